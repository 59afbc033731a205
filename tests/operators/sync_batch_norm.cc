// The parts of a batch norm over several devices, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/norm.h"
#include "norm/row_calls.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

const Listed kStatsDtypes = {.everywhere = {ACL_FLOAT, ACL_FLOAT16}, .on_950 = {ACL_BF16}};
const Listed kFloatOnly = {{ACL_FLOAT}};
const Listed kAllFloats = {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
double FloatOf(double x) { return static_cast<double>(static_cast<float>(x)); }

// Shapes and channels may be found wrong in any order: the arguments that a message may name.
Rule HasChannels(const std::string& name) {
  return Refuses(161002, name, [=](const PlanCall& call) { return call[name].shape[1] == 0; });
}
std::function<Shape(const PlanCall&)> ChannelsOf(const std::string& name) {
  return [=](const PlanCall& call) { return Shape{call[name].shape[1]}; };
}
std::vector<std::vector<int64_t>> RowsOfChannels(const Shape& shape) {
  std::vector<bool> axes(shape.size(), true);
  axes[1] = false;
  return NumElements(shape) == 0 ? std::vector<std::vector<int64_t>>{} : RowsOf(shape, axes);
}
Shape DrawImages(RandomNumbers& random) {
  Shape shape = DrawShape(random, 2, random.Below(8) == 0 ? 8 : 5, 3);
  if (shape.size() < 4 && random.Below(3) == 0)
    shape.back() = random.Between(1, random.Below(12) == 0 ? 5000 : 90);
  if (shape.size() < 4 && random.Below(12) == 0) shape[0] = random.Between(1, 300);
  return shape;
}
// Counts and reciprocal deviations are above 0, and all numbers finite.
void FillFinite(const PlanCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  const auto arguments = TensorsOf(call);
  for (size_t i = 0; i < tensors.size(); ++i) {
    if (arguments[i] == nullptr || arguments[i]->null) continue;
    const std::string& name = arguments[i]->name;
    const bool counts = name == "counts" || name == "counter" || name == "sampleCount";
    const bool positive = name == "invstd" || name == "totalSquareSum";
    for (int64_t k = 0; k < tensors[i].size(); ++k) {
      const int64_t drawn = counts     ? random.Between(2, 40) * 1000
                            : positive ? random.Between(300, 3000)
                                       : random.Between(-3000, 3000);
      // Squares are so large that variances stay above 0.
      const double scale = name == "totalSquareSum" ? 1 : 1000;
      const Element element = ElementOfNumber(
          tensors[i].dtype(), {static_cast<long double>(static_cast<double>(drawn) / scale), 0});
      std::copy(element.begin(), element.end(), tensors[i].Element(k));
    }
  }
}

OperatorSpec Stats() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNormStats);
  op.valid = {TensorArg("input", {2, 3, 4}), RealArg("eps", 1e-5), OutputArg("mean", {3}),
              OutputArg("invstd", {3})};
  op.rules = {NoNulls("input mean invstd"),
              DtypeIn("input", kStatsDtypes),
              DtypeIn("mean invstd", kFloatOnly),
              NoPrivateFormat("input"),
              Ranks("input", 2, 8),
              Ranks("mean invstd", 1, 1),
              HasChannels("input"),
              HasShape("mean", ChannelsOf("input")),
              HasShape("invstd", ChannelsOf("input"))};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    call["input"].shape = DrawImages(random);
    call["input"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16});
    if (random.Below(12) == 0) call["input"].shape[0] = 0;
    for (const char* name : {"mean", "invstd"}) call[name].shape = {call["input"].shape[1]};
    call["eps"].real = random.Below(2) == 0 ? 0.01 : 0.25;
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    std::vector<double> means, reciprocals;
    for (const auto& row : RowsOfChannels(x.shape)) {
      const auto n = static_cast<double>(row.size());
      means.push_back(SumOf(row, [&](int64_t i) { return ValueAt(x, i); }) / n);
      const double variance =
          SumOf(row, [&](int64_t i) { return std::pow(ValueAt(x, i) - means.back(), 2); }) / n;
      reciprocals.push_back(1 / std::sqrt(variance + FloatOf(call["eps"].real)));
    }
    if (x.elements.empty()) {
      means.assign(static_cast<size_t>(x.shape[1]), 0);
      reciprocals.assign(static_cast<size_t>(x.shape[1]), std::nan(""));
    }
    return std::vector<Outcome>{AsOutcome(ACL_FLOAT, means), AsOutcome(ACL_FLOAT, reciprocals)};
  };
  return op;
}

OperatorSpec Elemt() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNormElemt);
  op.valid = {TensorArg("input", {2, 3, 4}), TensorArg("weight", {3}), TensorArg("bias", {3}),
              TensorArg("mean", {3}),        TensorArg("invstd", {3}), RealArg("eps", 1e-5),
              OutputArg("output", {2, 3, 4})};
  op.rules = {NoNulls("input mean invstd output", 161002),
              DtypeIn("input", kFloats),
              Given("weight", DtypeIn("weight", kFloats)),
              Given("bias", DtypeIn("bias", kFloats)),
              DtypeIn("mean invstd output", kFloats),
              SameFormat("input", "output"),
              NoPrivateFormat("input output"),
              Ranks("input output", 2, 8),
              SameShape("input", "output"),
              HasChannels("input")};
  for (const char* name : {"weight", "bias", "mean", "invstd"})
    op.rules.push_back(Given(name, HasShape(name, ChannelsOf("input"))));
  op.rules.push_back(DoneIfEmpty("input"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawImages(random);
    for (const char* name : {"input", "output"}) call[name].shape = shape;
    for (const char* name : {"input", "output", "weight", "bias", "mean", "invstd"})
      call[name].dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"weight", "bias", "mean", "invstd"}) call[name].shape = {shape[1]};
    for (const char* name : {"weight", "bias"}) call[name].null = random.Below(4) == 0;
  };
  op.fill = FillFinite;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    std::vector<double> out(x.elements.size());
    int64_t channel = 0;
    for (const auto& row : RowsOfChannels(x.shape)) {
      const double weight = call["weight"].null ? 1 : ValueAt(tensors[1], channel);
      const double bias = call["bias"].null ? 0 : ValueAt(tensors[2], channel);
      for (const int64_t i : row)
        out[static_cast<size_t>(i)] =
            (ValueAt(x, i) - ValueAt(tensors[3], channel)) * ValueAt(tensors[4], channel) * weight + bias;
      ++channel;
    }
    return std::vector<Outcome>{AsOutcome(call["output"].dtype, out)};
  };
  return op;
}

OperatorSpec ElemtBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNormElemtBackward);
  op.valid = {
      TensorArg("gradOut", {2, 3, 4}), TensorArg("input", {2, 3, 4}), TensorArg("mean", {3}),
      TensorArg("invstd", {3}),        TensorArg("weight", {3}),      TensorArg("sumDy", {3}),
      TensorArg("sumDyXmu", {3}),      TensorArg("counter", {2}),     OutputArg("gradInput", {2, 3, 4})};
  op.rules = {NoNulls("gradOut input mean invstd sumDy sumDyXmu counter gradInput"),
              DtypeIn("gradOut input mean invstd", kFloats),
              Given("weight", DtypeIn("weight", kFloats)),
              DtypeIn("sumDy sumDyXmu", kFloats),
              DtypeIn("counter", {{ACL_FLOAT, ACL_FLOAT16, ACL_INT32}}),
              DtypeIn("gradInput", kFloats),
              NoPrivateFormat("gradOut input gradInput"),
              Ranks("input", 2, 8),
              HasChannels("input"),
              SameShape("input", "gradOut"),
              SameShape("input", "gradInput")};
  for (const char* name : {"mean", "invstd", "weight", "sumDy", "sumDyXmu"})
    op.rules.push_back(Given(name, HasShape(name, ChannelsOf("input"))));
  op.rules.push_back(Ranks("counter", 0, 8));
  op.rules.push_back(DoneIfEmpty("gradOut input"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawImages(random);
    for (const char* name : {"gradOut", "input", "gradInput"}) call[name].shape = shape;
    for (const char* name :
         {"gradOut", "input", "mean", "invstd", "weight", "sumDy", "sumDyXmu", "gradInput"})
      call[name].dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"mean", "invstd", "weight", "sumDy", "sumDyXmu"}) call[name].shape = {shape[1]};
    call["weight"].null = random.Below(4) == 0;
    call["counter"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_INT32});
    call["counter"].shape = DrawShape(random, 0, 3);
  };
  op.fill = FillFinite;
  op.takes_workspace = true;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[1];
    double n = 0;
    for (int64_t i = 0; i < std::ssize(tensors[7].elements); ++i) n += ValueAt(tensors[7], i);
    std::vector<double> out(x.elements.size());
    int64_t channel = 0;
    for (const auto& row : RowsOfChannels(x.shape)) {
      const auto of = [&](size_t i) { return ValueAt(tensors[i], channel); };
      const double weight = call["weight"].null ? 1 : of(4);
      for (const int64_t i : row)
        out[static_cast<size_t>(i)] =
            (ValueAt(tensors[0], i) - of(5) / n - (ValueAt(x, i) - of(2)) * of(3) * of(3) * of(6) / n) *
            of(3) * weight;
      ++channel;
    }
    return std::vector<Outcome>{AsOutcome(call["gradInput"].dtype, out)};
  };
  return op;
}

OperatorSpec Reduce() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNormReduce);
  op.valid = {TensorArg("x", {2, 3, 4, 5}), OutputArg("sum", {3}), OutputArg("squareSum", {3})};
  op.valid[0].format = ACL_FORMAT_NCHW;
  const auto channels = [](const PlanCall& call) {
    return Shape{call["x"].shape[call["x"].format == ACL_FORMAT_NHWC ? 3 : 1]};
  };
  const auto is_empty = [](const PlanCall& call) {
    return NumElements(call["x"].shape) == 0 || NumElements(call["sum"].shape) == 0 ||
           NumElements(call["squareSum"].shape) == 0;
  };
  const auto can_be_filled = [=](const std::string& name) {
    return Refuses(561103, name, [=](const PlanCall& call) {
      const auto& all = ConvertibleDtypes();
      return is_empty(call) && std::find(all.begin(), all.end(), call[name].dtype) == all.end();
    });
  };
  op.rules = {
      NoNulls("x sum squareSum"),
      can_be_filled("sum"),
      can_be_filled("squareSum"),
      SucceedsIf(is_empty),
      DtypeIn("x", kAllFloats),
      DtypeIn("sum squareSum", kFloatOnly),
      Refuses(161002, "x",
              [](const PlanCall& call) {
                return call["x"].format != ACL_FORMAT_NCHW && call["x"].format != ACL_FORMAT_NHWC;
              }),
      Refuses(161002, "sum", [](const PlanCall& call) { return call["sum"].format != ACL_FORMAT_ND; }),
      Refuses(161002, "squareSum",
              [](const PlanCall& call) { return call["squareSum"].format != ACL_FORMAT_ND; }),
      Ranks("x", 4, 4),
      HasShape("sum", channels),
      HasShape("squareSum", channels)};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    PlanArgument& x = call["x"];
    x.shape = DrawShape(random, 4, 4, 3);
    if (random.Below(6) == 0) x.shape[3] = random.Between(1, 900);
    x.dtype = DrawDtype(random, kRowDtypes);
    x.format = random.Below(2) == 0 ? ACL_FORMAT_NCHW : ACL_FORMAT_NHWC;
    for (const char* name : {"sum", "squareSum"}) call[name].shape = channels(call);
    if (random.Below(12) == 0) {
      x.shape[0] = 0;
      call["sum"].shape = DrawShape(random, 0, 3);
      call["squareSum"].dtype = ACL_DOUBLE;
    }
  };
  op.fill = FillRows;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    std::vector<double> sums, squares;
    if (NumElements(x.shape) == 0) {
      sums.assign(static_cast<size_t>(NumElements(call["sum"].shape)), 0);
      squares.assign(static_cast<size_t>(NumElements(call["squareSum"].shape)), 0);
    } else {
      std::vector<bool> axes(4, true);
      axes[call["x"].format == ACL_FORMAT_NHWC ? 3 : 1] = false;
      for (const auto& row : RowsOf(x.shape, axes)) {
        sums.push_back(SumOf(row, [&](int64_t i) { return ValueAt(x, i); }));
        squares.push_back(SumOf(row, [&](int64_t i) { return ValueAt(x, i) * ValueAt(x, i); }));
      }
    }
    return std::vector<Outcome>{AsOutcome(call["sum"].dtype, sums),
                                AsOutcome(call["squareSum"].dtype, squares)};
  };
  return op;
}

OperatorSpec ReduceBackward() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNormReduceBackward);
  op.valid = {TensorArg("gradOut", {2, 3, 4}), TensorArg("input", {2, 3, 4}), TensorArg("mean", {3}),
              TensorArg("invstd", {3}),        TensorArg("weight", {3}),      IntegerArg("inputG", 1),
              IntegerArg("weightG", 1),        IntegerArg("biasG", 1),        OutputArg("sumDy", {3}),
              OutputArg("sumDyXmu", {3}),      OutputArg("gradWeight", {3}),  OutputArg("gradBias", {3})};
  const std::vector<std::pair<const char*, const char*>> outputs = {
      {"sumDy", "inputG"}, {"sumDyXmu", "inputG"}, {"gradWeight", "weightG"}, {"gradBias", "biasG"}};
  const auto if_wanted = [](const char* flag, const Rule& rule) -> Rule {
    return When([=](const PlanCall& call) { return call[flag].integer != 0; }, rule);
  };
  const auto is_empty = [](const PlanCall& call) {
    for (const char* name : {"gradOut", "input", "mean", "invstd"}) {
      if (NumElements(call[name].shape) == 0) return true;
    }
    return false;
  };
  op.rules = {NoNulls("gradOut input mean invstd")};
  for (const auto& [name, flag] : outputs) op.rules.push_back(if_wanted(flag, NoNulls(name)));
  op.rules.push_back(DtypeIn("gradOut input mean invstd", kFloats));
  op.rules.push_back(Given("weight", DtypeIn("weight", kFloats)));
  for (const auto& [name, flag] : outputs) op.rules.push_back(if_wanted(flag, DtypeIn(name, kFloats)));
  for (const Rule& rule :
       {SameDtype("gradOut", "input"), SameFormat("gradOut", "input"), NoPrivateFormat("gradOut input"),
        Ranks("gradOut input", 2, 8), HasChannels("input")})
    op.rules.push_back(rule);
  for (const auto& [name, flag] : outputs)
    op.rules.push_back(if_wanted(flag, HasShape(name, ChannelsOf("input"))));
  op.rules.push_back(SucceedsIf(is_empty));
  op.rules.push_back(HasShape(
      "gradOut", [](const PlanCall& call) { return call["input"].shape; }, 561103));
  op.rules.push_back(HasShape("mean", ChannelsOf("input"), 561103));
  op.rules.push_back(HasShape("invstd", ChannelsOf("input"), 561103));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    const Shape shape = DrawImages(random);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"gradOut", "input"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    for (const char* name : {"mean", "invstd", "weight"}) {
      call[name].shape = {shape[1]};
      call[name].dtype = DrawDtype(random, kRowDtypes);
    }
    call["weight"].null = random.Below(2) == 0;
    for (const char* flag : {"inputG", "weightG", "biasG"}) call[flag].integer = random.Below(4) == 0 ? 0 : 1;
    for (const auto& [name, flag] : outputs) {
      call[name].shape = {shape[1]};
      call[name].dtype = DrawDtype(random, kRowDtypes);
      call[name].null = call[flag].integer == 0 && random.Below(2) == 0;
    }
    if (random.Below(12) == 0) call["gradOut"].shape = call["input"].shape = {0, shape[1]};
  };
  op.fill = FillRows;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[1];
    std::vector<double> numbers[4];
    int64_t channel = 0;
    for (const auto& row : RowsOfChannels(x.shape)) {
      const double sum = SumOf(row, [&](int64_t i) { return ValueAt(tensors[0], i); });
      const double product = SumOf(row, [&](int64_t i) {
        return ValueAt(tensors[0], i) * (ValueAt(x, i) - ValueAt(tensors[2], channel));
      });
      const double all[] = {sum, product, product * ValueAt(tensors[3], channel), sum};
      for (size_t i = 0; i < 4; ++i) numbers[i].push_back(all[i]);
      ++channel;
    }
    std::vector<Outcome> outcomes;
    for (size_t i = 0; i < 4; ++i) {
      if (x.elements.empty()) numbers[i].assign(static_cast<size_t>(x.shape[1]), 0);
      const auto& [name, flag] = outputs[i];
      outcomes.push_back(call[flag].integer != 0 ? AsOutcome(call[name].dtype, numbers[i]) : Outcome{});
    }
    return outcomes;
  };
  return op;
}

OperatorSpec GatherMoments() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnBatchNormGatherStatsWithCounts);
  op.updates = true;
  op.valid = {TensorArg("input", {2, 3, 4}), TensorArg("mean", {4, 3}),    TensorArg("invstd", {4, 3}),
              OutputArg("runningMean", {3}), OutputArg("runningVar", {3}), RealArg("momentum", 0.1),
              RealArg("eps", 1e-5),          TensorArg("counts", {4}),     OutputArg("meanAll", {3}),
              OutputArg("invstdAll", {3})};
  op.rules = {NoNulls("input mean invstd counts meanAll invstdAll"),
              DtypeIn("input mean invstd", kFloats),
              Given("runningMean", DtypeIn("runningMean", kFloats)),
              Given("runningVar", DtypeIn("runningVar", kFloats)),
              DtypeIn("counts meanAll invstdAll", kFloats),
              NoPrivateFormat("input mean invstd counts"),
              Ranks("input", 2, 8),
              Ranks("mean invstd", 2, 2),
              Refuses(161002, "invstd",
                      [](const PlanCall& call) { return call["invstd"].shape[0] != call["mean"].shape[0]; }),
              Refuses(161002, "counts",
                      [](const PlanCall& call) {
                        return call["counts"].shape.empty() ||
                               call["counts"].shape[0] != call["mean"].shape[0];
                      }),
              Refuses(161002, "mean",
                      [](const PlanCall& call) { return call["mean"].shape[1] != call["input"].shape[1]; }),
              Refuses(161002, "invstd",
                      [](const PlanCall& call) { return call["invstd"].shape[1] != call["input"].shape[1]; }),
              Given("runningMean", HasShape("runningMean", ChannelsOf("input"))),
              Given("runningVar", HasShape("runningVar", ChannelsOf("input"))),
              Ranks("counts", 1, 1),
              HasShape("meanAll", ChannelsOf("input")),
              HasShape("invstdAll", ChannelsOf("input"))};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t channels = random.Between(1, random.Below(16) == 0 ? 300 : 5);
    const int64_t parts = random.Below(12) == 0 ? 0 : random.Between(1, random.Below(4) == 0 ? 40 : 6);
    call["input"].shape = {random.Between(0, 3), channels};
    for (const char* name : {"mean", "invstd"}) call[name].shape = {parts, channels};
    call["counts"].shape = {parts};
    for (const char* name : {"runningMean", "runningVar", "meanAll", "invstdAll"})
      call[name].shape = {channels};
    for (const char* name :
         {"input", "mean", "invstd", "counts", "runningMean", "runningVar", "meanAll", "invstdAll"})
      call[name].dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"runningMean", "runningVar"}) call[name].null = random.Below(4) == 0;
    call["momentum"].real = random.Below(3) == 0 ? 1.0 : 0.1;
    call["eps"].real = random.Below(2) == 0 ? 0.01 : 0.05;
  };
  op.fill = FillFinite;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t parts = call["mean"].shape[0];
    const int64_t channels = call["mean"].shape[1];
    const double momentum = call["momentum"].real;
    const double eps = call["eps"].real;
    std::vector<double> running_means, running_variances, means, reciprocals;
    for (int64_t c = 0; c < channels; ++c) {
      if (parts == 0) {
        means.push_back(0);
        reciprocals.push_back(std::nan(""));
        continue;
      }
      double n = 0, weighted = 0, squares = 0;
      for (int64_t w = 0; w < parts; ++w) {
        n += ValueAt(tensors[5], w);
        weighted += ValueAt(tensors[5], w) * ValueAt(tensors[1], w * channels + c);
      }
      const double mean = weighted / n;
      for (int64_t w = 0; w < parts; ++w) {
        const double invstd = ValueAt(tensors[2], w * channels + c);
        squares += ValueAt(tensors[5], w) *
                   (1 / (invstd * invstd) - eps + std::pow(ValueAt(tensors[1], w * channels + c) - mean, 2));
      }
      means.push_back(mean);
      reciprocals.push_back(1 / std::sqrt(squares / n + eps));
      if (call["runningMean"].null) continue;
      running_means.push_back((1 - momentum) * ValueAt(tensors[3], c) + momentum * mean);
      if (!call["runningVar"].null)
        running_variances.push_back((1 - momentum) * ValueAt(tensors[4], c) + momentum * squares / (n - 1));
    }
    return std::vector<Outcome>{AsOutcome(call["runningMean"].dtype, running_means),
                                AsOutcome(call["runningVar"].dtype, running_variances),
                                AsOutcome(call["meanAll"].dtype, means),
                                AsOutcome(call["invstdAll"].dtype, reciprocals)};
  };
  return op;
}

OperatorSpec GatherSums() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSyncBatchNormGatherStats);
  op.updates = true;
  op.valid = {
      TensorArg("totalSum", {4, 3}), TensorArg("totalSquareSum", {4, 3}), TensorArg("sampleCount", {4}),
      OutputArg("mean", {3}),        OutputArg("variance", {3}),          RealArg("momentum", 0.1),
      RealArg("eps", 1e-5),          OutputArg("batchMean", {3}),         OutputArg("batchInvstd", {3})};
  const Listed counts = {.everywhere = {ACL_FLOAT, ACL_FLOAT16, ACL_INT32}, .on_950 = {ACL_BF16}};
  const auto of_channels = [](const PlanCall& call) { return Shape{call["totalSum"].shape[1]}; };
  op.rules = {NoNulls("totalSum totalSquareSum sampleCount mean variance batchMean batchInvstd"),
              DtypeIn("totalSum totalSquareSum", kStatsDtypes),
              DtypeIn("sampleCount", counts),
              DtypeIn("mean variance batchMean batchInvstd", kStatsDtypes),
              SameDtype("totalSum", "totalSquareSum"),
              SameDtype("totalSum", "mean"),
              SameDtype("totalSum", "variance"),
              SameDtype("batchMean", "batchInvstd"),
              NoPrivateFormat("totalSum totalSquareSum sampleCount"),
              Ranks("totalSum totalSquareSum", 2, 2),
              Ranks("sampleCount mean variance batchMean batchInvstd", 1, 1),
              SameShape("totalSum", "totalSquareSum"),
              HasShape("sampleCount", [](const PlanCall& call) { return Shape{call["totalSum"].shape[0]}; })};
  for (const char* name : {"mean", "variance", "batchMean", "batchInvstd"})
    op.rules.push_back(HasShape(name, of_channels));
  op.rules.push_back(
      Refuses(161002, "totalSum", [](const PlanCall& call) { return call["totalSum"].shape[0] == 0; }));
  op.rules.push_back(DoneIfEmpty("totalSum"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t channels = random.Between(1, random.Below(16) == 0 ? 300 : 5);
    const int64_t parts = random.Between(1, random.Below(4) == 0 ? 40 : 6);
    const DtypeNumber dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16});
    const DtypeNumber batch = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16});
    for (const char* name : {"totalSum", "totalSquareSum"}) call[name].shape = {parts, channels};
    for (const char* name : {"totalSum", "totalSquareSum", "mean", "variance"}) call[name].dtype = dtype;
    for (const char* name : {"batchMean", "batchInvstd"}) call[name].dtype = batch;
    for (const char* name : {"mean", "variance", "batchMean", "batchInvstd"}) call[name].shape = {channels};
    call["sampleCount"].shape = {parts};
    call["sampleCount"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_FLOAT16, ACL_INT32});
    call["momentum"].real = random.Below(3) == 0 ? 1.0 : 0.125;
    call["eps"].real = 0.25;
  };
  op.fill = FillFinite;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t parts = call["totalSum"].shape[0];
    const int64_t channels = call["totalSum"].shape[1];
    const double momentum = FloatOf(call["momentum"].real);
    std::vector<double> means, variances, batch_means, reciprocals;
    for (int64_t c = 0; c < channels; ++c) {
      double n = 0, sum = 0, squares = 0;
      for (int64_t w = 0; w < parts; ++w) {
        n += std::trunc(ValueAt(tensors[2], w));
        sum += ValueAt(tensors[0], w * channels + c);
        squares += ValueAt(tensors[1], w * channels + c);
      }
      const double mean = sum / n;
      const double variance = squares / n - mean * mean;
      means.push_back((1 - momentum) * ValueAt(tensors[3], c) + momentum * mean);
      variances.push_back((1 - momentum) * ValueAt(tensors[4], c) + momentum * variance * n / (n - 1));
      batch_means.push_back(mean);
      reciprocals.push_back(1 / std::sqrt(variance + FloatOf(call["eps"].real)));
    }
    return std::vector<Outcome>{
        AsOutcome(call["mean"].dtype, means), AsOutcome(call["variance"].dtype, variances),
        AsOutcome(call["batchMean"].dtype, batch_means), AsOutcome(call["batchInvstd"].dtype, reciprocals)};
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& SyncBatchNormOperators() {
  static const std::vector<OperatorSpec> all = {Stats(),          Elemt(),         ElemtBackward(), Reduce(),
                                                ReduceBackward(), GatherMoments(), GatherSums()};
  return all;
}

}  // namespace portacl::testing
