// Softmax and layer norms over rows, and their gradients, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/norm.h"
#include "norm/row_calls.h"
#include "operators/norm_rules.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

using namespace norms;

// ---- softmax ----

std::vector<bool> AxisOf(const PlanCall& call, const Shape& shape) {
  std::vector<bool> axes(shape.size());
  if (!shape.empty()) axes[Wrapped(call["dim"].integer, shape)] = true;
  return axes;
}

void DrawRows(PlanCall& call, RandomNumbers& random, const std::vector<std::string>& tensors,
              const DtypeList& dtypes) {
  Shape shape = DrawShape(random, 0, 8, random.Below(4) == 0 ? 3 : 6);
  // Now and then rows of several vectors, and of blocks.
  if (!shape.empty() && shape.size() < 3 && random.Below(2) == 0)
    shape[random.Below(shape.size())] = random.Between(1, random.Below(8) == 0 ? 9000 : 200);
  const int64_t rank = std::max<int64_t>(std::ssize(shape), 1);
  call["dim"].integer = random.Between(-rank, rank - 1);
  const DtypeNumber dtype = DrawDtype(random, dtypes);
  for (const std::string& name : tensors) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
}

const Listed kSoftmaxDtypes = kFD;

OperatorSpec SoftmaxOperator(const CFunction& function, bool logarithm) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("self", {2, 3}), IntegerArg("dim", 1), OutputArg("out", {2, 3})};
  const Rules all = {
      DtypeIn("self out", kSoftmaxDtypes),
      Refuses(161002, "dim",
              [](PlanCall& call) { return !IsDimOf(call["dim"].integer, call["self"].shape); }),
      Ranks("self", 0, 8), SameShape("self", "out")};
  op.rules = {NoNulls("self out")};
  if (!logarithm) op.rules.push_back(DoneIfEmpty("self"));
  op.rules.insert(op.rules.end(), all.begin(), all.end());
  if (logarithm) op.rules.push_back(DoneIfEmpty("self"));
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawRows(call, random, {"self", "out"}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE});
    if (random.Below(4) == 0) call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_DOUBLE});
  };
  op.fill = FillRows;
  op.tolerance = kTolerance;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& self = tensors[0];
    std::vector<double> out(self.elements.size());
    for (const auto& row : RowsOf(self.shape, AxisOf(call, self.shape))) {
      double greatest = -std::numeric_limits<double>::infinity();
      for (const int64_t i : row) greatest = std::fmax(greatest, ValueAt(self, i));
      const double sum = SumOf(row, [&](int64_t i) { return std::exp(ValueAt(self, i) - greatest); });
      for (const int64_t i : row) {
        const double distance = ValueAt(self, i) - greatest;
        out[static_cast<size_t>(i)] = logarithm ? distance - std::log(sum) : std::exp(distance) / sum;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

OperatorSpec SoftmaxGradient(const CFunction& function, bool logarithm) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("gradOutput", {2, 3}), TensorArg("output", {2, 3}), IntegerArg("dim", 1),
              OutputArg("out", {2, 3})};
  op.rules = {NoNulls(logarithm ? "output gradOutput out" : "gradOutput output out"),
              SucceedsIf([](PlanCall& call) {
                return call.product != Product::k950 &&
                       (NumElements(call["gradOutput"].shape) == 0 || NumElements(call["output"].shape) == 0);
              }),
              DtypeIn("gradOutput output", kFloats),
              SameDtype("gradOutput", "output"),
              Ranks("gradOutput output out", 0, 8),
              Refuses(161002, "dim",
                      [](PlanCall& call) { return !IsDimOf(call["dim"].integer, call["gradOutput"].shape); }),
              SameShape("gradOutput", "output"),
              SameShape("gradOutput", "out"),
              DoneIfEmpty("gradOutput"),
              Refuses(561103, "out gradOutput", [](PlanCall& call) {
                const auto& all = ConvertibleDtypes();
                return std::find(all.begin(), all.end(), call["out"].dtype) == all.end();
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawRows(call, random, {"gradOutput", "output", "out"}, kRowDtypes);
    if (random.Below(4) == 0) call["out"].dtype = DrawDtype(random, {ACL_FLOAT, ACL_BF16, ACL_DOUBLE});
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& gradient = tensors[0];
    const TensorValues& output = tensors[1];
    std::vector<double> out(gradient.elements.size());
    for (const auto& row : RowsOf(gradient.shape, AxisOf(call, gradient.shape))) {
      const double sum = SumOf(row, [&](int64_t i) {
        return logarithm ? ValueAt(gradient, i) : ValueAt(gradient, i) * ValueAt(output, i);
      });
      for (const int64_t i : row) {
        const double g = ValueAt(gradient, i);
        const double y = ValueAt(output, i);
        out[static_cast<size_t>(i)] = logarithm ? g - std::exp(y) * sum : (g - sum) * y;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// ---- layer norm ----

int64_t LeadingRows(const Shape& shape, size_t last) {
  return NumElements(Shape(shape.begin(), shape.end() - static_cast<std::ptrdiff_t>(last)));
}

Rule FloatOr(const std::string& name, const std::string& other) {
  return Given(name, Refuses(161002, name, [=](PlanCall& call) {
                 return call[name].dtype != ACL_FLOAT && call[name].dtype != call[other].dtype;
               }));
}
Rule GivenListed(const std::string& name, const Listed& list) { return Given(name, DtypeIn(name, list)); }
Rule GivenRank(const std::string& name) { return Given(name, Ranks(name, 0, 8)); }
Rule StatisticFits(const std::string& name, aclnnStatus code, bool on_950) {
  return Given(name, Refuses(code, name, [=](PlanCall& call) {
                 if (on_950 && call.product != Product::k950) return false;
                 const Shape& shape = call[name].shape;
                 return NumElements(shape) != 0 &&
                        shape != LeadingAndOnes(call["input"].shape, call["normalizedShape"].values.size());
               }));
}
Rule IsTail(const std::string& name, const std::string& of) {
  return Given(name, Refuses(161002, name + " " + of, [=](PlanCall& call) {
                 return call[name].shape != call["normalizedShape"].values;
               }));
}

struct RowMoments {
  double mean;
  double rstd;
};
RowMoments MomentsOf(const TensorValues& x, const std::vector<int64_t>& row, double eps) {
  const auto n = static_cast<double>(row.size());
  const double mean = SumOf(row, [&](int64_t i) { return ValueAt(x, i); }) / n;
  const double variance = SumOf(row, [&](int64_t i) { return std::pow(ValueAt(x, i) - mean, 2); }) / n;
  return {mean, 1 / std::sqrt(variance + static_cast<double>(static_cast<float>(eps)))};
}

OperatorSpec LayerNormOperator(const CFunction& function, bool has_mode) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("input", {2, 3, 4}),
              ArrayArg("normalizedShape", {3, 4}),
              TensorArg("weightOptional", {3, 4}),
              TensorArg("biasOptional", {3, 4}),
              RealArg("eps", 1e-5),
              OutputArg("out", {2, 3, 4}),
              OutputArg("meanOutOptional", {2, 1, 1}),
              OutputArg("rstdOutOptional", {2, 1, 1})};
  if (has_mode) op.valid.push_back(IntegerArg("implMode", 0));
  op.takes_workspace = true;
  op.rules = {
      NoNulls("input normalizedShape out"),
      DtypeIn("input", kFloats),
      GivenListed("weightOptional", kFloats),
      GivenListed("biasOptional", kFloats),
      FloatOr("weightOptional", "input"),
      FloatOr("biasOptional", "input"),
      Given("weightOptional", Given("biasOptional", SameDtype("weightOptional", "biasOptional"))),
      DtypeIn("out", kFloats),
      GivenListed("meanOutOptional", kFloats),
      GivenListed("rstdOutOptional", kFloats),
      Ranks("input out", 0, 8),
      GivenRank("weightOptional"),
      GivenRank("biasOptional"),
      GivenRank("meanOutOptional"),
      GivenRank("rstdOutOptional"),
      Refuses(161002, "normalizedShape input",
              [](PlanCall& call) { return !FitsTail(call["input"].shape, call["normalizedShape"].values); }),
      IsTail("weightOptional", "normalizedShape"),
      IsTail("biasOptional", "normalizedShape"),
      SameShape("input", "out"),
      StatisticFits("meanOutOptional", 161002, true),
      StatisticFits("rstdOutOptional", 161002, true)};
  if (has_mode) {
    op.rules.push_back(Refuses(161002, "implMode input weightOptional biasOptional", [](PlanCall& call) {
      const int64_t mode = call["implMode"].integer;
      if (mode < 0 || mode > 2) return true;
      bool halves = true;
      for (const char* name : {"input", "weightOptional", "biasOptional"})
        halves = halves && (call[name].null || call[name].dtype == ACL_FLOAT16);
      return mode == 2 && !halves;
    }));
  }
  op.rules.push_back(SucceedsIf([](PlanCall& call) {
    return LeadingRows(call["input"].shape, call["normalizedShape"].values.size()) == 0;
  }));
  op.rules.push_back(StatisticFits("meanOutOptional", 561103, false));
  op.rules.push_back(StatisticFits("rstdOutOptional", 561103, false));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape;
    Shape tail;
    DrawNorm(call, random, &shape, &tail);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    const DtypeNumber weights = random.Below(2) == 0 ? dtype : ACL_FLOAT;
    call["normalizedShape"].values = tail;
    for (const char* name : {"input", "out"}) call[name].shape = shape;
    for (const char* name : {"meanOutOptional", "rstdOutOptional"}) {
      call[name].shape = LeadingAndOnes(shape, tail.size());
      call[name].dtype = random.Below(3) == 0 ? dtype : ACL_FLOAT;
      call[name].null = random.Below(5) == 0;
    }
    call["input"].dtype = dtype;
    call["out"].dtype = random.Below(4) == 0 ? ACL_FLOAT : dtype;
    for (const char* name : {"weightOptional", "biasOptional"}) {
      call[name].shape = tail;
      call[name].dtype = weights;
      call[name].null = random.Below(4) == 0;
    }
    call["eps"].real = random.Below(2) == 0 ? 1e-5 : 0.25;
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    std::vector<double> out(x.elements.size());
    std::vector<double> mean;
    std::vector<double> rstd;
    const size_t last = call["normalizedShape"].values.size();
    const int64_t n = NumElements(call["normalizedShape"].values);
    if (n == 0) {
      mean.assign(static_cast<size_t>(LeadingRows(x.shape, last)), 0);
      rstd.assign(mean.size(), std::numeric_limits<double>::quiet_NaN());
    }
    for (const auto& row :
         n == 0 ? std::vector<std::vector<int64_t>>{} : RowsOf(x.shape, LastAxesOf(x.shape, last))) {
      const RowMoments moments = MomentsOf(x, row, call["eps"].real);
      mean.push_back(moments.mean);
      rstd.push_back(moments.rstd);
      for (const int64_t i : row) {
        const double w = call["weightOptional"].null ? 1 : ValueAt(tensors[1], i % n);
        const double b = call["biasOptional"].null ? 0 : ValueAt(tensors[2], i % n);
        out[static_cast<size_t>(i)] = (ValueAt(x, i) - moments.mean) * moments.rstd * w + b;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out),
                                AsOutcome(call["meanOutOptional"].dtype, mean),
                                AsOutcome(call["rstdOutOptional"].dtype, rstd)};
  };
  return op;
}

OperatorSpec LayerNormGradient() {
  const Listed halves = {kRowDtypes};
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnLayerNormBackward);
  op.valid = {TensorArg("gradOut", {2, 3, 4}),      TensorArg("input", {2, 3, 4}),
              ArrayArg("normalizedShape", {3, 4}),  TensorArg("mean", {2, 1, 1}),
              TensorArg("rstd", {2, 1, 1}),         TensorArg("weightOptional", {3, 4}),
              TensorArg("biasOptional", {3, 4}),    ArrayArg("outputMask", {1, 1, 1}),
              OutputArg("gradInputOut", {2, 3, 4}), OutputArg("gradWeightOut", {3, 4}),
              OutputArg("gradBiasOut", {3, 4})};
  const std::vector<std::string> outputs = {"gradInputOut", "gradWeightOut", "gradBiasOut"};
  const auto wanted = [](PlanCall& call, size_t i) { return call["outputMask"].values[i] != 0; };
  op.rules = {
      NoNulls("gradOut input normalizedShape mean rstd outputMask"),
      Refuses(161002, "outputMask", [](PlanCall& call) { return call["outputMask"].values.size() != 3; })};
  for (size_t i = 0; i < 3; ++i) {
    op.rules.push_back(Refuses(161001, outputs[i],
                               [=](PlanCall& call) { return wanted(call, i) && call[outputs[i]].null; }));
  }
  op.rules.push_back(DtypeIn("gradOut input mean rstd", halves));
  op.rules.push_back(SameDtype("input", "gradOut"));
  for (const char* name : {"weightOptional", "biasOptional"}) op.rules.push_back(GivenListed(name, halves));
  op.rules.push_back(FloatOr("weightOptional", "input"));
  for (const std::string& name : outputs) op.rules.push_back(GivenListed(name, halves));
  op.rules.push_back(Ranks("gradOut input mean rstd", 0, 8));
  for (const char* name : {"weightOptional", "biasOptional", "gradInputOut", "gradWeightOut", "gradBiasOut"})
    op.rules.push_back(GivenRank(name));
  op.rules.push_back(Refuses(161002, "normalizedShape input", [](PlanCall& call) {
    return !FitsTail(call["input"].shape, call["normalizedShape"].values);
  }));
  op.rules.push_back(IsTail("weightOptional", "normalizedShape"));
  op.rules.push_back(IsTail("biasOptional", "normalizedShape"));
  op.rules.push_back(SameShape("input", "gradOut"));
  op.rules.push_back(SameShape("mean", "rstd"));
  op.rules.push_back(Refuses(161002, "mean", [](PlanCall& call) {
    return NumElements(call["mean"].shape) !=
           LeadingRows(call["input"].shape, call["normalizedShape"].values.size());
  }));
  op.rules.push_back(Refuses(161002, "gradInputOut input", [=](PlanCall& call) {
    return wanted(call, 0) && call["gradInputOut"].shape != call["input"].shape;
  }));
  for (const size_t i : {1, 2}) {
    op.rules.push_back(Refuses(161002, outputs[i], [=](PlanCall& call) {
      return wanted(call, i) &&
             NumElements(call[outputs[i]].shape) != NumElements(call["normalizedShape"].values);
    }));
  }
  op.rules.push_back(SucceedsIf([=](PlanCall& call) {
    return NumElements(call["normalizedShape"].values) == 0 ||
           (!wanted(call, 0) && !wanted(call, 1) && !wanted(call, 2));
  }));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape;
    Shape tail;
    DrawNorm(call, random, &shape, &tail);
    if (random.Below(12) == 0) shape[0] = random.Between(200, 700);
    tail = Shape(shape.end() - std::ssize(tail), shape.end());
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    call["normalizedShape"].values = tail;
    for (const char* name : {"gradOut", "input", "gradInputOut"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    if (random.Below(4) == 0) call["gradInputOut"].dtype = ACL_FLOAT;
    const DtypeNumber statistics = random.Below(3) == 0 ? dtype : ACL_FLOAT;
    for (const char* name : {"mean", "rstd"}) {
      call[name].shape = LeadingAndOnes(shape, tail.size());
      call[name].dtype = statistics;
    }
    const DtypeNumber weights = random.Below(2) == 0 ? dtype : ACL_FLOAT;
    for (const char* name : {"weightOptional", "biasOptional", "gradWeightOut", "gradBiasOut"}) {
      call[name].shape = tail;
      call[name].dtype = weights;
    }
    for (const char* name : {"weightOptional", "biasOptional"}) call[name].null = random.Below(4) == 0;
    for (size_t i = 0; i < 3; ++i) call["outputMask"].values[i] = random.Below(4) == 0 ? 0 : 1;
  };
  op.fill = FillRows;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& gradient = tensors[0];
    const TensorValues& x = tensors[1];
    const int64_t n = NumElements(call["normalizedShape"].values);
    std::vector<double> out(x.elements.size());
    std::vector<double> of_weight(static_cast<size_t>(n));
    std::vector<double> of_bias(static_cast<size_t>(n));
    int64_t number = 0;
    const auto rows = NumElements(x.shape) == 0
                          ? std::vector<std::vector<int64_t>>{}
                          : RowsOf(x.shape, LastAxesOf(x.shape, call["normalizedShape"].values.size()));
    for (const auto& row : rows) {
      const double mean = ValueAt(tensors[2], number);
      const double rstd = ValueAt(tensors[3], number++);
      const auto h = [&](int64_t i) { return (ValueAt(x, i) - mean) * rstd; };
      const auto g = [&](int64_t i) {
        return ValueAt(gradient, i) * (call["weightOptional"].null ? 1 : ValueAt(tensors[4], i % n));
      };
      const double mean_g = SumOf(row, g) / static_cast<double>(n);
      const double mean_gh = SumOf(row, [&](int64_t i) { return g(i) * h(i); }) / static_cast<double>(n);
      for (const int64_t i : row) {
        out[static_cast<size_t>(i)] = rstd * (g(i) - mean_g - h(i) * mean_gh);
        of_weight[static_cast<size_t>(i % n)] += ValueAt(gradient, i) * h(i);
        of_bias[static_cast<size_t>(i % n)] += ValueAt(gradient, i);
      }
    }
    std::vector<Outcome> all = {AsOutcome(call["gradInputOut"].dtype, out),
                                AsOutcome(call["gradWeightOut"].dtype, of_weight),
                                AsOutcome(call["gradBiasOut"].dtype, of_bias)};
    for (size_t i = 0; i < 3; ++i) {
      if (call["outputMask"].values[i] == 0) all[i].assign(tensors[6 + i].elements.size(), std::nullopt);
    }
    return all;
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& RowOperators() {
  static const std::vector<OperatorSpec> all = [] {
    std::vector<OperatorSpec> every = {
        SoftmaxOperator(PORTACL_C_FUNCTION(aclnnSoftmax), false),
        SoftmaxOperator(PORTACL_C_FUNCTION(aclnnLogSoftmax), true),
        SoftmaxGradient(PORTACL_C_FUNCTION(aclnnSoftmaxBackward), false),
        SoftmaxGradient(PORTACL_C_FUNCTION(aclnnLogSoftmaxBackward), true),
        LayerNormOperator(PORTACL_C_FUNCTION(aclnnLayerNorm), false),
        LayerNormOperator(PORTACL_C_FUNCTION(aclnnLayerNormWithImplMode), true),
        LayerNormGradient()};
    for (const OperatorSpec& op : norms::RmsNorms()) every.push_back(op);
    return every;
  }();
  return all;
}

}  // namespace portacl::testing
