// Norms of channels and groups, and their gradients, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/norm.h"
#include "norm/row_calls.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

size_t ChannelDim(const PlanCall& call, const PlanArgument& x) {
  const bool last = x.format == ACL_FORMAT_NHWC || x.format == ACL_FORMAT_NDHWC;
  return last && call.product == Product::k950 ? x.shape.size() - 1 : 1;
}
Rule HasChannels(const std::string& name, const std::string& x) {
  return Refuses(161002, name, [=](const PlanCall& call) {
    return call[name].shape != Shape{call[x].shape[ChannelDim(call, call[x])]};
  });
}
Rule FiveDims(const std::string& name) {
  return Refuses(161002, name, [=](const PlanCall& call) {
    const PlanArgument& x = call[name];
    return x.shape.size() == 5 && x.format != ACL_FORMAT_NCDHW &&
           !(x.format == ACL_FORMAT_NDHWC && call.product == Product::k950);
  });
}
Listed BatchDtypes() { return kFloats; }
Rule BatchListed(const std::string& name) {
  return Refuses(161002, name, [=](const PlanCall& call) {
    return call.product == Product::k310B || !BatchDtypes().Has(call.product, call[name].dtype);
  });
}
double FloatOf(double x) { return static_cast<double>(static_cast<float>(x)); }

// Variances are not negative, and numbers finite: what is near zero is not divided by.
void FillPositive(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  FillRows(call, tensors, random);
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i]->name != "runningVar") continue;
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      const Element element =
          ElementOfNumber(tensors[i].dtype(), {static_cast<long double>(random.Between(1, 3000)) / 1000, 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

void DrawChannels(PlanCall& call, RandomNumbers& random, const std::vector<std::string>& images,
                  const std::vector<std::string>& channels) {
  Shape shape = DrawShape(random, 2, 8, 4);
  if (shape.size() < 4 && random.Below(2) == 0)
    shape[shape.size() - 1] = random.Between(1, random.Below(6) == 0 ? 5000 : 90);
  if (random.Below(6) == 0) shape[0] = random.Between(1, 300);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : images) {
    call[name].shape = shape;
    call[name].dtype = dtype;
    call[name].format = shape.size() == 5 ? ACL_FORMAT_NCDHW : ACL_FORMAT_ND;
  }
  const DtypeNumber weights = random.Below(2) == 0 ? dtype : ACL_FLOAT;
  for (const std::string& name : channels) {
    call[name].shape = {shape[1]};
    call[name].dtype = weights;
    call[name].null = random.Below(5) == 0;
  }
}

Rule CanBeFilled(const std::string& name) {
  return Refuses(561103, name, [=](const PlanCall& call) {
    const auto& all = ConvertibleDtypes();
    return std::find(all.begin(), all.end(), call[name].dtype) == all.end();
  });
}

// Of tensor i of the call, the number of a channel; `otherwise` where it is null.
double Of(const PlanCall& call, const std::vector<TensorValues>& tensors, const std::string& name, size_t i,
          int64_t channel, double otherwise) {
  return call[name].null || tensors[i].elements.empty() ? otherwise : ValueAt(tensors[i], channel);
}

OperatorSpec BatchNormOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNorm);
  op.updates = true;
  op.valid = {TensorArg("input", {2, 3, 4}), TensorArg("weight", {3}),     TensorArg("bias", {3}),
              OutputArg("runningMean", {3}), OutputArg("runningVar", {3}), IntegerArg("training", 1),
              RealArg("momentum", 0.1),      RealArg("eps", 1e-5),         OutputArg("output", {2, 3, 4}),
              OutputArg("saveMean", {3}),    OutputArg("saveInvstd", {3})};
  const auto trains = [](const PlanCall& call) { return call["training"].integer != 0; };
  const auto is_empty = [](const PlanCall& call) { return NumElements(call["input"].shape) == 0; };
  op.rules = {NoNulls("input output"),
              When(trains, NoNulls("saveMean saveInvstd")),
              When(is_empty, Given("saveMean", CanBeFilled("saveMean"))),
              When(is_empty, Given("saveInvstd", CanBeFilled("saveInvstd"))),
              DoneIfEmpty("input"),
              BatchListed("input"),
              BatchListed("output"),
              When(trains, BatchListed("saveMean")),
              When(trains, BatchListed("saveInvstd"))};
  for (const char* name : {"weight", "bias", "runningMean", "runningVar"})
    op.rules.push_back(Given(name, BatchListed(name)));
  for (const Rule& rule : {SameFormat("input", "output"), FiveDims("input"), NoPrivateFormat("input"),
                           Ranks("input", 2, 8), SameShape("input", "output")})
    op.rules.push_back(rule);
  for (const char* name : {"weight", "bias", "runningMean", "runningVar"})
    op.rules.push_back(Given(name, HasChannels(name, "input")));
  for (const char* name : {"saveMean", "saveInvstd"})
    op.rules.push_back(When(trains, HasChannels(name, "input")));
  op.rules.push_back(Refuses(561103, "output input", [](const PlanCall& call) {
    return call["input"].dtype != call["output"].dtype;
  }));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawChannels(call, random, {"input", "output"}, {"weight", "bias", "runningMean", "runningVar"});
    call["training"].integer = random.Below(3) == 0 ? 0 : 1;
    for (const char* name : {"saveMean", "saveInvstd"}) {
      call[name].shape = {call["input"].shape[1]};
      call[name].dtype = random.Below(3) == 0 ? call["input"].dtype : DtypeNumber{ACL_FLOAT};
      call[name].null = call["training"].integer == 0 && random.Below(2) == 0;
    }
    if (random.Below(12) == 0) {
      for (const char* name : {"input", "output"}) call[name].shape[0] = 0;
      // Nothing is asked of these then.
      call["saveMean"].shape = DrawShape(random, 0, 3);
      call["saveInvstd"].shape = DrawShape(random, 0, 3);
      call["saveInvstd"].dtype = ACL_DOUBLE;
    }
    call["momentum"].real = random.Below(3) == 0 ? 1.0 : 0.1;
    call["eps"].real = random.Below(2) == 0 ? 0.01 : 0.25;
  };
  op.fill = FillPositive;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    const bool training = call["training"].integer != 0;
    std::vector<double> out(x.elements.size());
    std::vector<double> means, reciprocals, running_means, running_variances;
    std::vector<bool> axes(x.shape.size(), true);
    if (axes.size() > 1) axes[1] = false;
    if (NumElements(x.shape) == 0) {
      const auto all_of = [&](const char* name, double value) {
        const auto n = static_cast<size_t>(call[name].null ? 0 : NumElements(call[name].shape));
        return AsOutcome(call[name].dtype, std::vector<double>(n, value));
      };
      std::vector<Outcome> all(5);
      all[3] = all_of("saveMean", 0.0);
      all[4] = all_of("saveInvstd", std::nan(""));
      return all;
    }
    int64_t channel = 0;
    for (const auto& row : RowsOf(x.shape, axes)) {
      const auto n = static_cast<double>(row.size());
      const double running_mean = Of(call, tensors, "runningMean", 3, channel, 0);
      const double running_variance = Of(call, tensors, "runningVar", 4, channel, 1);
      double mean = running_mean;
      double variance = running_variance;
      if (training) {
        mean = SumOf(row, [&](int64_t i) { return ValueAt(x, i); }) / n;
        variance = SumOf(row, [&](int64_t i) { return std::pow(ValueAt(x, i) - mean, 2); }) / n;
        const double momentum = call["momentum"].real;
        running_means.push_back((1 - momentum) * running_mean + momentum * mean);
        running_variances.push_back((1 - momentum) * running_variance +
                                    momentum * variance * (n > 1 ? n / (n - 1) : 1));
        means.push_back(mean);
      }
      const double invstd = 1 / std::sqrt(variance + FloatOf(call["eps"].real));
      if (training) reciprocals.push_back(invstd);
      const double w = Of(call, tensors, "weight", 1, channel, 1);
      const double b = Of(call, tensors, "bias", 2, channel, 0);
      for (const int64_t i : row) out[static_cast<size_t>(i)] = (ValueAt(x, i) - mean) * invstd * w + b;
      ++channel;
    }
    return std::vector<Outcome>{
        AsOutcome(call["runningMean"].dtype, running_means),
        AsOutcome(call["runningVar"].dtype, running_variances), AsOutcome(call["output"].dtype, out),
        AsOutcome(call["saveMean"].dtype, means), AsOutcome(call["saveInvstd"].dtype, reciprocals)};
  };
  return op;
}

const std::vector<std::string> kBatchGradients = {"gradInput", "gradWeight", "gradBias"};
bool Wanted(const PlanCall& call, size_t i) { return call["outputMask"].values[i] != 0; }

OperatorSpec BatchNormGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNormBackward);
  op.valid = {
      TensorArg("gradOut", {2, 3, 4}),   TensorArg("input", {2, 3, 4}),     TensorArg("weight", {3}),
      TensorArg("runningMean", {3}),     TensorArg("runningVar", {3}),      TensorArg("saveMean", {3}),
      TensorArg("saveInvstd", {3}),      IntegerArg("training", 1),         RealArg("eps", 1e-5),
      ArrayArg("outputMask", {1, 1, 1}), OutputArg("gradInput", {2, 3, 4}), OutputArg("gradWeight", {3}),
      OutputArg("gradBias", {3})};
  const std::vector<std::string> channels = {"weight", "runningMean", "runningVar", "saveMean", "saveInvstd"};
  const auto on_950 = [](const PlanCall& call) { return call.product == Product::k950; };
  op.rules = {NoNulls("gradOut input"), DoneIfEmpty("gradOut input"), NoNulls("outputMask"),
              Refuses(161001, "outputMask",
                      [](const PlanCall& call) { return call["outputMask"].values.size() != 3; })};
  for (size_t i = 0; i < 3; ++i)
    op.rules.push_back(
        When([=](const PlanCall& call) { return Wanted(call, i); }, NoNulls(kBatchGradients[i])));
  for (const Rule& rule : {BatchListed("gradOut"), BatchListed("input"), SameDtype("gradOut", "input")})
    op.rules.push_back(rule);
  for (size_t i = 0; i < 3; ++i)
    op.rules.push_back(
        When([=](const PlanCall& call) { return Wanted(call, i); }, BatchListed(kBatchGradients[i])));
  for (const std::string& name : channels) op.rules.push_back(Given(name, BatchListed(name)));
  for (const std::string& name : channels) {
    op.rules.push_back(Given(name, Refuses(161002, name, [=](const PlanCall& call) {
                               return on_950(call) && call[name].dtype != ACL_FLOAT &&
                                      call[name].dtype != call["gradOut"].dtype;
                             })));
  }
  op.rules.push_back(
      When(on_950, Given("runningMean", Given("runningVar", SameDtype("runningMean", "runningVar")))));
  op.rules.push_back(
      When(on_950, Given("saveMean", Given("saveInvstd", SameDtype("saveMean", "saveInvstd")))));
  op.rules.push_back(When([=](const PlanCall& call) { return on_950(call) && Wanted(call, 0); },
                          SameDtype("gradOut", "gradInput")));
  for (const Rule& rule : {SameFormat("gradOut", "input"), When(on_950, FiveDims("input")),
                           NoPrivateFormat("input"), Ranks("input", 2, 8), SameShape("gradOut", "input")})
    op.rules.push_back(rule);
  op.rules.push_back(
      When([](const PlanCall& call) { return Wanted(call, 0); }, SameShape("input", "gradInput")));
  for (const std::string& name : channels) {
    op.rules.push_back(Given(name, When(
                                       [=](const PlanCall& call) {
                                         return name[0] != 's' || call["training"].integer != 0 ||
                                                call[name].shape != Shape{0};
                                       },
                                       HasChannels(name, "input"))));
  }
  for (const size_t i : {1, 2})
    op.rules.push_back(When([=](const PlanCall& call) { return Wanted(call, i); },
                            HasChannels(kBatchGradients[i], "input")));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawChannels(call, random, {"gradOut", "input", "gradInput"}, channels);
    call["training"].integer = random.Below(2);
    for (size_t i = 0; i < 3; ++i) call["outputMask"].values[i] = random.Below(4) == 0 ? 0 : 1;
    for (const size_t i : {1, 2}) {
      call[kBatchGradients[i]].shape = {call["input"].shape[1]};
      call[kBatchGradients[i]].dtype = random.Below(2) == 0 ? call["input"].dtype : DtypeNumber{ACL_FLOAT};
    }
    call["eps"].real = 0.25;
  };
  op.fill = FillPositive;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& gradient = tensors[0];
    const TensorValues& x = tensors[1];
    const bool training = call["training"].integer != 0;
    std::vector<double> out(x.elements.size());
    std::vector<double> of_weight, of_bias;
    std::vector<bool> axes(x.shape.size(), true);
    axes[1] = false;
    int64_t channel = 0;
    const bool any = NumElements(x.shape) != 0;
    for (const auto& row : any ? RowsOf(x.shape, axes) : std::vector<std::vector<int64_t>>{}) {
      const auto n = static_cast<double>(row.size());
      const double w = Of(call, tensors, "weight", 2, channel, 1);
      const double mean = training ? Of(call, tensors, "saveMean", 5, channel, 0)
                                   : Of(call, tensors, "runningMean", 3, channel, 0);
      const double invstd =
          training
              ? Of(call, tensors, "saveInvstd", 6, channel, 1)
              : 1 / std::sqrt(Of(call, tensors, "runningVar", 4, channel, 1) + FloatOf(call["eps"].real));
      const auto h = [&](int64_t i) { return (ValueAt(x, i) - mean) * invstd; };
      of_bias.push_back(SumOf(row, [&](int64_t i) { return ValueAt(gradient, i); }));
      of_weight.push_back(SumOf(row, [&](int64_t i) { return ValueAt(gradient, i) * h(i); }));
      for (const int64_t i : row) {
        const double g = ValueAt(gradient, i);
        out[static_cast<size_t>(i)] =
            training ? w * invstd * (g - of_bias.back() / n - h(i) * of_weight.back() / n) : g * w * invstd;
      }
      ++channel;
    }
    std::vector<Outcome> all = {AsOutcome(call["gradInput"].dtype, out),
                                AsOutcome(call["gradWeight"].dtype, of_weight),
                                AsOutcome(call["gradBias"].dtype, of_bias)};
    for (size_t i = 0; i < 3; ++i) {
      if (call["outputMask"].values[i] == 0) all[i].clear();
    }
    return all;
  };
  return op;
}

// ---- groups ----

Rule GroupsFit() {
  return Refuses(161002, "group", [](const PlanCall& call) {
    return call["group"].integer <= 0 || call["C"].integer % call["group"].integer != 0;
  });
}

void DrawGroups(PlanCall& call, RandomNumbers& random, const std::vector<std::string>& images,
                const std::vector<std::string>& statistics, const std::vector<std::string>& channels) {
  Shape shape = DrawShape(random, 2, 8, 4);
  const int64_t group = random.Between(1, 3);
  shape[1] = group * random.Between(1, 3);
  if (shape.size() == 3) shape[2] = random.Between(1, random.Below(4) == 0 ? 4000 : 60);
  call["N"].integer = shape[0];
  call["C"].integer = shape[1];
  call["HxW"].integer = NumElements(Shape(shape.begin() + 2, shape.end()));
  call["group"].integer = group;
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const auto& names : {images, statistics, channels}) {
    for (const std::string& name : names) call[name].dtype = dtype;
  }
  for (const std::string& name : images) call[name].shape = shape;
  for (const std::string& name : statistics) call[name].shape = {shape[0], group};
  for (const std::string& name : channels) call[name].shape = {shape[1]};
}

// The rows of [N, C, ...] by groups, in the order of [N, group].
std::vector<std::vector<int64_t>> GroupsOf(const PlanCall& call, int64_t elements) {
  const int64_t groups = call["N"].integer * call["group"].integer;
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(elements == 0 ? 0 : groups));
  for (int64_t i = 0; i < elements; ++i) rows[static_cast<size_t>(i / (elements / groups))].push_back(i);
  return rows;
}
int64_t ChannelAt(const PlanCall& call, int64_t i) { return i / call["HxW"].integer % call["C"].integer; }

OperatorSpec GroupNormOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGroupNorm);
  op.valid = {TensorArg("self", {2, 4, 3}), TensorArg("gamma", {4}),     TensorArg("beta", {4}),
              IntegerArg("N", 2),           IntegerArg("C", 4),          IntegerArg("HxW", 3),
              IntegerArg("group", 2),       RealArg("eps", 1e-5),        OutputArg("out", {2, 4, 3}),
              OutputArg("meanOut", {2, 2}), OutputArg("rstdOut", {2, 2})};
  const auto groups = [](const PlanCall& call) { return Shape{call["N"].integer, call["group"].integer}; };
  const auto channels = [](const PlanCall& call) { return Shape{call["C"].integer}; };
  op.rules = {NoNulls("self out meanOut rstdOut"),
              DtypeIn("self", kFloats),
              Given("gamma", SameDtype("self", "gamma")),
              Given("beta", SameDtype("self", "beta")),
              SameDtype("self", "out"),
              SameDtype("self", "meanOut"),
              SameDtype("self", "rstdOut"),
              GroupsFit(),
              Refuses(161002, "eps", [](const PlanCall& call) { return !(call["eps"].real > 0); }),
              Ranks("self", 2, 8),
              SameShape("self", "out"),
              HasShape("meanOut", groups),
              HasShape("rstdOut", groups),
              Refuses(161002, "self",
                      [](const PlanCall& call) {
                        const Shape& self = call["self"].shape;
                        return self[0] != call["N"].integer || self[1] != call["C"].integer ||
                               NumElements(Shape(self.begin() + 2, self.end())) != call["HxW"].integer;
                      }),
              Given("gamma", HasShape("gamma", channels)),
              Given("beta", HasShape("beta", channels)),
              SameFormat("self", "out"),
              NoPrivateFormat("self"),
              Refuses(161002, "self", [](const PlanCall& call) {
                const int32_t format = call["self"].format;
                return format == ACL_FORMAT_NHWC || format == ACL_FORMAT_HWCN || format == ACL_FORMAT_NDHWC;
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawGroups(call, random, {"self", "out"}, {"meanOut", "rstdOut"}, {"gamma", "beta"});
    for (const char* name : {"gamma", "beta"}) call[name].null = random.Below(4) == 0;
    call["eps"].real = 0.25;
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    std::vector<double> out(x.elements.size());
    std::vector<double> means, reciprocals;
    if (out.empty()) {
      means.assign(static_cast<size_t>(NumElements(tensors[4].shape)), 0);
      reciprocals.assign(means.size(), std::nan(""));
    }
    for (const auto& row : GroupsOf(call, std::ssize(out))) {
      const auto n = static_cast<double>(row.size());
      means.push_back(SumOf(row, [&](int64_t i) { return ValueAt(x, i); }) / n);
      const double variance =
          SumOf(row, [&](int64_t i) { return std::pow(ValueAt(x, i) - means.back(), 2); }) / n;
      reciprocals.push_back(1 / std::sqrt(variance + FloatOf(call["eps"].real)));
      for (const int64_t i : row) {
        const double w = Of(call, tensors, "gamma", 1, ChannelAt(call, i), 1);
        const double b = Of(call, tensors, "beta", 2, ChannelAt(call, i), 0);
        out[static_cast<size_t>(i)] = (ValueAt(x, i) - means.back()) * reciprocals.back() * w + b;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out), AsOutcome(call["meanOut"].dtype, means),
                                AsOutcome(call["rstdOut"].dtype, reciprocals)};
  };
  return op;
}

OperatorSpec GroupNormGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGroupNormBackward);
  op.valid = {TensorArg("gradOut", {2, 4, 3}),
              TensorArg("input", {2, 4, 3}),
              TensorArg("mean", {2, 2}),
              TensorArg("rstd", {2, 2}),
              TensorArg("gamma", {4}),
              IntegerArg("N", 2),
              IntegerArg("C", 4),
              IntegerArg("HxW", 3),
              IntegerArg("group", 2),
              ArrayArg("outputMask", {1, 1, 1}),
              OutputArg("gradInput", {2, 4, 3}),
              OutputArg("gradGammaOut", {4}),
              OutputArg("gradBetaOut", {4})};
  const std::vector<std::string> outputs = {"gradInput", "gradGammaOut", "gradBetaOut"};
  const auto if_wanted = [](size_t i, const Rule& rule) {
    return When([=](const PlanCall& call) { return Wanted(call, i); }, rule);
  };
  // On Ascend 950 what belongs to groups and channels is as mean, which may be FLOAT.
  const auto fits = [](const std::string& name) {
    return Refuses(161002, name, [=](const PlanCall& call) {
      const bool is_new = call.product == Product::k950;
      if (name == "mean" && is_new && call["mean"].dtype == ACL_FLOAT) return false;
      return call[name].dtype != call[is_new && name != "mean" ? "mean" : "gradOut"].dtype;
    });
  };
  const auto numbers = [](const std::string& name, const std::vector<std::string>& sizes) {
    return Refuses(161002, name, [=](const PlanCall& call) {
      Shape shape;
      for (const std::string& size : sizes) shape.push_back(call[size].integer);
      return std::any_of(shape.begin(), shape.end(), [](int64_t n) { return n < 0; }) ||
             NumElements(call[name].shape) != NumElements(shape);
    });
  };
  op.rules = {NoNulls("gradOut input mean rstd"), NoNulls("outputMask", 161002),
              Refuses(161002, "outputMask",
                      [](const PlanCall& call) { return call["outputMask"].values.size() != 3; })};
  for (size_t i = 0; i < 3; ++i) op.rules.push_back(if_wanted(i, NoNulls(outputs[i], 161002)));
  for (const Rule& rule :
       {DtypeIn("gradOut", kFloats), SameDtype("gradOut", "input"), fits("mean"), fits("rstd"),
        Given("gamma", fits("gamma")), if_wanted(0, SameDtype("gradOut", "gradInput")),
        if_wanted(1, fits("gradGammaOut")), if_wanted(2, fits("gradBetaOut")), GroupsFit(),
        Ranks("gradOut input", 0, 8), numbers("gradOut", {"N", "C", "HxW"}),
        numbers("input", {"N", "C", "HxW"}), numbers("mean", {"N", "group"}), numbers("rstd", {"N", "group"}),
        Given("gamma", numbers("gamma", {"C"})), if_wanted(0, SameShape("input", "gradInput"))})
    op.rules.push_back(rule);
  for (const size_t i : {1, 2}) {
    op.rules.push_back(if_wanted(i, Refuses(161002, outputs[i], [=](const PlanCall& call) {
                                   return call[outputs[i]].shape != (call["gamma"].null
                                                                         ? Shape{call["C"].integer}
                                                                         : call["gamma"].shape);
                                 })));
  }
  op.rules.push_back(DoneIfEmpty("gradOut input"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    DrawGroups(call, random, {"gradOut", "input", "gradInput"}, {"mean", "rstd"},
               {"gamma", "gradGammaOut", "gradBetaOut"});
    call["gamma"].null = random.Below(4) == 0;
    // Any dims of as many elements.
    const bool is_more = !call["gamma"].null && random.Below(3) == 0;
    for (const char* name : {"gamma", "gradGammaOut", "gradBetaOut"}) {
      if (is_more) call[name].shape = {1, call["C"].integer, 1};
    }
    for (size_t i = 0; i < 3; ++i) call["outputMask"].values[i] = random.Below(4) == 0 ? 0 : 1;
  };
  op.fill = FillRows;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& gradient = tensors[0];
    const TensorValues& x = tensors[1];
    std::vector<double> out(x.elements.size());
    std::vector<double> of_weight(static_cast<size_t>(call["C"].integer));
    std::vector<double> of_bias(of_weight.size());
    int64_t number = 0;
    for (const auto& row : GroupsOf(call, std::ssize(out))) {
      const auto n = static_cast<double>(row.size());
      const double mean = ValueAt(tensors[2], number);
      const double rstd = ValueAt(tensors[3], number++);
      const auto h = [&](int64_t i) { return (ValueAt(x, i) - mean) * rstd; };
      const auto g = [&](int64_t i) {
        return ValueAt(gradient, i) * Of(call, tensors, "gamma", 4, ChannelAt(call, i), 1);
      };
      const double mean_g = SumOf(row, g) / n;
      const double mean_gh = SumOf(row, [&](int64_t i) { return g(i) * h(i); }) / n;
      for (const int64_t i : row) {
        out[static_cast<size_t>(i)] = rstd * (g(i) - mean_g - h(i) * mean_gh);
        const auto channel = static_cast<size_t>(ChannelAt(call, i));
        of_weight[channel] += ValueAt(gradient, i) * h(i);
        of_bias[channel] += ValueAt(gradient, i);
      }
    }
    std::vector<Outcome> all = {AsOutcome(call["gradInput"].dtype, out),
                                AsOutcome(call["gradGammaOut"].dtype, of_weight),
                                AsOutcome(call["gradBetaOut"].dtype, of_bias)};
    for (size_t i = 0; i < 3; ++i) {
      if (out.empty() || call["outputMask"].values[i] == 0) all[i].clear();
    }
    return all;
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& ChannelOperators() {
  static const std::vector<OperatorSpec> all = {BatchNormOperator(), BatchNormGradient(), GroupNormOperator(),
                                                GroupNormGradient()};
  return all;
}

}  // namespace portacl::testing
