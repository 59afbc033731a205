// Norms over rows fused with sums and casts, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aclnnop/families/norm.h"
#include "norm/row_calls.h"
#include "operators/norm_rules.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

using namespace norms;

const Listed kFloatAlone = {{ACL_FLOAT}};

Rule InferenceToo(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) {
    const DtypeNumber dtype = call[name].dtype;
    const bool is_half = dtype == ACL_FLOAT || dtype == ACL_FLOAT16;
    if (call.product == Product::k310P) return !is_half;
    const bool is_new =
        call.product == Product::kA2 || call.product == Product::kA3 || call.product == Product::k950;
    return !is_new || (!is_half && dtype != ACL_BF16);
  });
}
// The last dims of x, none of which is 0.
Rule Tail(const std::string& gamma, const std::string& x) {
  return Tiling(gamma, [=](PlanCall& call) {
    const Shape& tail = call[gamma].shape;
    const Shape& shape = call[x].shape;
    return tail.empty() || tail.size() > shape.size() || NumElements(tail) == 0 ||
           !std::equal(tail.begin(), tail.end(), shape.end() - std::ssize(tail));
  });
}
// A number for each row; dims of 1 at its end may be missing.
Rule Numbers(const std::string& numbers, const std::string& gamma, const std::string& x) {
  return Tiling(numbers, [=](PlanCall& call) {
    const Shape& shape = call[x].shape;
    const size_t leading = shape.size() - call[gamma].shape.size();
    const Shape& given = call[numbers].shape;
    if (given.size() > shape.size()) return true;
    for (size_t i = 0; i < std::max(given.size(), leading); ++i) {
      if ((i < given.size() ? given[i] : 1) != (i < leading ? shape[i] : 1)) return true;
    }
    return false;
  });
}

// A shape and its last dims; what is named so gets them, and one dtype.
void DrawTails(PlanCall& call, RandomNumbers& random, const std::vector<std::string>& rows,
               const std::vector<std::string>& tails, const std::vector<std::string>& numbers, size_t least,
               size_t most_tail) {
  Shape shape = DrawShape(random, least, 8, 3);
  if (shape.size() < 3 && random.Below(2) == 0)
    shape.back() = random.Between(1, random.Below(8) == 0 ? 9000 : 200);
  const auto last =
      static_cast<size_t>(random.Between(1, static_cast<int64_t>(std::min(shape.size(), most_tail))));
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : rows) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
  for (const std::string& name : tails)
    call[name].shape = Shape(shape.end() - static_cast<std::ptrdiff_t>(last), shape.end());
  Shape of_rows = shape;
  for (size_t i = shape.size() - last; i < shape.size(); ++i) of_rows[i] = 1;
  if (random.Below(3) == 0) of_rows.resize(shape.size() - last);
  for (const std::string& name : numbers) call[name].shape = of_rows;
}

// ---- RMS norms ----

struct RmsRows {
  std::vector<double> normed;
  std::vector<double> numbers;
};
RmsRows RmsOf(const Shape& shape, const Shape& gamma, double epsilon, const std::function<double(int64_t)>& x,
              const std::function<double(int64_t)>& weight) {
  RmsRows rows;
  rows.normed.resize(static_cast<size_t>(NumElements(shape)));
  const int64_t n = NumElements(gamma);
  for (const auto& row : RowsOf(shape, LastAxesOf(shape, gamma.size()))) {
    const double mean = SumOf(row, [&](int64_t i) { return x(i) * x(i); }) / static_cast<double>(n);
    rows.numbers.push_back(1 / std::sqrt(mean + Single(epsilon)));
    for (const int64_t i : row)
      rows.normed[static_cast<size_t>(i)] = x(i) * rows.numbers.back() * weight(i % n);
  }
  return rows;
}

OperatorSpec Gemma() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGemmaRmsNorm);
  op.valid = {TensorArg("x", {2, 3, 4}), TensorArg("gamma", {3, 4}), RealArg("epsilon", 1e-6),
              OutputArg("yOut", {2, 3, 4}), OutputArg("rstdOut", {2, 1, 1})};
  op.rules = {NoNulls("x gamma yOut rstdOut"),
              DtypeIn("x", kF3),
              SameDtype("x", "gamma"),
              SameDtype("x", "yOut"),
              DtypeIn("rstdOut", kFloatAlone),
              TilingRank("x", 1, 8),
              TilingRank("gamma", 0, 8),
              Tail("gamma", "x"),
              TilingShape("x", "yOut"),
              Tiling("epsilon", [](PlanCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x"),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x", "yOut", "gamma"}, {"gamma"}, {"rstdOut"}, 1, 8);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const RmsRows rows = RmsOf(
        call["x"].shape, call["gamma"].shape, call["epsilon"].real,
        [&](int64_t i) { return ValueAt(tensors[0], i); },
        [&](int64_t i) { return 1 + ValueAt(tensors[1], i); });
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, rows.normed),
                                AsOutcome(ACL_FLOAT, rows.numbers)};
  };
  return op;
}

OperatorSpec InplaceSum() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceAddRmsNorm);
  op.valid = {OutputArg("x1Ref", {2, 3, 4}), OutputArg("x2Ref", {2, 3, 4}), TensorArg("gamma", {4}),
              RealArg("epsilon", 1e-6), OutputArg("rstdOut", {2, 3, 1})};
  op.rules = {NoNulls("x1Ref x2Ref gamma rstdOut"),
              InferenceToo("x1Ref"),
              SameDtype("x1Ref", "x2Ref"),
              SameDtype("x1Ref", "gamma"),
              DtypeIn("rstdOut", kFloatAlone),
              TilingRank("x1Ref", 0, 8),
              TilingRank("x2Ref", 0, 8),
              TilingRank("gamma", 0, 8),
              TilingRank("x1Ref", 1, 8),
              TilingShape("x1Ref", "x2Ref"),
              Tiling("x1Ref", [](PlanCall& call) { return NumElements(call["x1Ref"].shape) == 0; }),
              Tail("gamma", "x1Ref"),
              Tiling("epsilon", [](PlanCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x1Ref")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x1Ref", "x2Ref", "gamma"}, {"gamma"}, {"rstdOut"}, 1, 8);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.updates = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x1Ref"].shape;
    const auto sum = [&](int64_t i) { return ValueAt(tensors[0], i) + ValueAt(tensors[1], i); };
    const RmsRows rows = RmsOf(shape, call["gamma"].shape, call["epsilon"].real, sum,
                               [&](int64_t i) { return ValueAt(tensors[2], i); });
    std::vector<double> sums;
    for (int64_t i = 0; i < NumElements(shape); ++i) sums.push_back(sum(i));
    const DtypeNumber dtype = call["x1Ref"].dtype;
    return std::vector<Outcome>{AsOutcome(dtype, rows.normed), AsOutcome(dtype, sums),
                                AsOutcome(ACL_FLOAT, rows.numbers)};
  };
  return op;
}

// Its FLOAT result is the other one's elements: those of Atlas A2 exactly, which is what is computed on.
OperatorSpec CastSum() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAddRmsNormCast);
  op.valid = {TensorArg("x1", {2, 3, 4}, ACL_BF16), TensorArg("x2", {2, 3, 4}, ACL_BF16),
              TensorArg("gamma", {4}, ACL_BF16),    RealArg("epsilon", 1e-6),
              OutputArg("y1Out", {2, 3, 4}),        OutputArg("y2Out", {2, 3, 4}, ACL_BF16),
              OutputArg("rstdOut", {2, 3, 1}),      OutputArg("xOut", {2, 3, 4}, ACL_BF16)};
  op.rules = {NoNulls("x1 x2 gamma y1Out y2Out rstdOut xOut"),
              DtypeIn("x1", {{}, {ACL_FLOAT16, ACL_BF16}}),
              SameDtype("x1", "x2"),
              SameDtype("x1", "gamma"),
              DtypeIn("y1Out rstdOut", kFloatAlone),
              SameDtype("x1", "y2Out"),
              SameDtype("x1", "xOut"),
              TilingRank("x1", 1, 8),
              TilingRank("x2", 0, 8),
              TilingRank("gamma", 0, 8),
              TilingShape("x1", "x2"),
              TilingShape("x1", "y1Out"),
              TilingShape("x1", "y2Out"),
              TilingShape("x1", "xOut"),
              Tail("gamma", "x1"),
              Tiling("epsilon", [](PlanCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x1"),
              DoneIfEmpty("x1")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x1", "x2", "y1Out", "y2Out", "xOut"}, {"gamma"}, {"rstdOut"}, 1, 8);
    const DtypeNumber dtype = random.Below(2) == 0 ? ACL_FLOAT16 : ACL_BF16;
    for (const char* name : {"x1", "x2", "gamma", "y2Out", "xOut"}) call[name].dtype = dtype;
    call["y1Out"].dtype = ACL_FLOAT;
  };
  op.fill = FillRows;
  op.tolerance = 1e-2;  // one rounding to BF16 more than the oracle has
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x1"].shape;
    const auto sum = [&](int64_t i) { return ValueAt(tensors[0], i) + ValueAt(tensors[1], i); };
    const RmsRows rows = RmsOf(shape, call["gamma"].shape, call["epsilon"].real, sum,
                               [&](int64_t i) { return ValueAt(tensors[2], i); });
    std::vector<double> sums;
    for (int64_t i = 0; i < NumElements(shape); ++i) sums.push_back(sum(i));
    const DtypeNumber dtype = call["x1"].dtype;
    return std::vector<Outcome>{AsOutcome(ACL_FLOAT, rows.normed), AsOutcome(dtype, rows.normed),
                                AsOutcome(ACL_FLOAT, rows.numbers), AsOutcome(dtype, sums)};
  };
  return op;
}

OperatorSpec BiasedSum() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAddRmsNormBias);
  op.valid = {TensorArg("x1", {2, 3, 4}),      TensorArg("x2", {2, 3, 4}),  TensorArg("gamma", {4}),
              TensorArg("betaOptional", {4}),  RealArg("epsilon", 1e-6),    OutputArg("yOut", {2, 3, 4}),
              OutputArg("rstdOut", {2, 3, 1}), OutputArg("xOut", {2, 3, 4})};
  const auto given = [](const Rule& rule) {
    return Rule([=](PlanCall& call) { return call["betaOptional"].null ? std::nullopt : rule(call); });
  };
  op.rules = {NoNulls("x1 x2 gamma yOut rstdOut xOut"),
              DtypeIn("x1", {{}, kRowDtypes}),
              SameDtype("x1", "x2"),
              SameDtype("x1", "gamma"),
              given(SameDtype("x1", "betaOptional")),
              SameDtype("x1", "yOut"),
              DtypeIn("rstdOut", kFloatAlone),
              SameDtype("x1", "xOut"),
              TilingRank("x1", 0, 8),
              TilingRank("x2", 0, 8),
              TilingRank("gamma", 0, 8),
              TilingRank("x1", 1, 8),
              TilingShape("x1", "x2"),
              TilingShape("x1", "yOut"),
              TilingShape("x1", "xOut"),
              Tail("gamma", "x1"),
              given(TilingShape("gamma", "betaOptional")),
              Tiling("epsilon", [](PlanCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x1"),
              DoneIfEmpty("x1")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x1", "x2", "yOut", "xOut"}, {"gamma"}, {"rstdOut"}, 1, 8);
    call["betaOptional"].shape = call["gamma"].shape;
    call["betaOptional"].dtype = call["gamma"].dtype;
    call["betaOptional"].null = random.Below(3) == 0;
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x1"].shape;
    const auto sum = [&](int64_t i) { return ValueAt(tensors[0], i) + ValueAt(tensors[1], i); };
    RmsRows rows = RmsOf(shape, call["gamma"].shape, call["epsilon"].real, sum,
                         [&](int64_t i) { return ValueAt(tensors[2], i); });
    const int64_t n = NumElements(call["gamma"].shape);
    std::vector<double> sums;
    for (int64_t i = 0; i < NumElements(shape); ++i) {
      sums.push_back(sum(i));
      if (!call["betaOptional"].null) rows.normed[static_cast<size_t>(i)] += ValueAt(tensors[3], i % n);
    }
    const DtypeNumber dtype = call["x1"].dtype;
    return std::vector<Outcome>{AsOutcome(dtype, rows.normed), AsOutcome(ACL_FLOAT, rows.numbers),
                                AsOutcome(dtype, sums)};
  };
  return op;
}

// ---- layer norms of sums ----

struct LayerRows {
  std::vector<double> normalized;  // (s - mean) * rstd
  std::vector<double> mean;
  std::vector<double> rstd;
};
LayerRows LayerOf(const Shape& shape, size_t last, double epsilon, const std::function<double(int64_t)>& s) {
  LayerRows rows;
  rows.normalized.resize(static_cast<size_t>(NumElements(shape)));
  for (const auto& row : RowsOf(shape, LastAxesOf(shape, last))) {
    const auto n = static_cast<double>(row.size());
    rows.mean.push_back(SumOf(row, s) / n);
    const double variance = SumOf(row, [&](int64_t i) { return std::pow(s(i) - rows.mean.back(), 2); }) / n;
    rows.rstd.push_back(1 / std::sqrt(variance + Single(epsilon)));
    for (const int64_t i : row)
      rows.normalized[static_cast<size_t>(i)] = (s(i) - rows.mean.back()) * rows.rstd.back();
  }
  return rows;
}
// Sums as they are computed, in float32.
double WeightedSum(double alpha, double x, double other) {
  return static_cast<double>(static_cast<float>(alpha) * static_cast<float>(x) + static_cast<float>(other));
}

OperatorSpec Deep() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDeepNorm);
  op.valid = {TensorArg("x", {2, 3, 4}),       TensorArg("gx", {2, 3, 4}),      TensorArg("beta", {4}),
              TensorArg("gamma", {4}),         RealArg("alpha", 0.3),           RealArg("epsilon", 1e-5),
              OutputArg("meanOut", {2, 3, 1}), OutputArg("rstdOut", {2, 3, 1}), OutputArg("yOut", {2, 3, 4})};
  op.rules = {NoNulls("x gx beta gamma meanOut rstdOut yOut"),
              DtypeIn("x", kF3),
              SameDtype("x", "gx"),
              SameDtype("x", "beta"),
              SameDtype("x", "gamma"),
              DtypeIn("meanOut rstdOut", kFloatAlone),
              SameDtype("x", "yOut"),
              TilingRank("x", 2, 8),
              TilingRank("gamma", 0, 7),
              TilingShape("x", "gx"),
              Tail("gamma", "x"),
              TilingShape("gamma", "beta"),
              TilingShape("x", "yOut"),
              Numbers("meanOut", "gamma", "x"),
              Numbers("rstdOut", "gamma", "x"),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x", "gx", "yOut", "gamma", "beta"}, {"gamma", "beta"}, {"meanOut", "rstdOut"},
              2, 7);
    call["alpha"].real = random.Below(2) == 0 ? 0.3 : 2.5;
    call["epsilon"].real = 0.01;  // what the mean's rounding becomes stays small
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x"].shape;
    const int64_t n = NumElements(call["gamma"].shape);
    const LayerRows rows = LayerOf(shape, call["gamma"].shape.size(), call["epsilon"].real, [&](int64_t i) {
      return WeightedSum(call["alpha"].real, ValueAt(tensors[0], i), ValueAt(tensors[1], i));
    });
    std::vector<double> out(rows.normalized);
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      out[static_cast<size_t>(i)] =
          out[static_cast<size_t>(i)] * ValueAt(tensors[3], i % n) + ValueAt(tensors[2], i % n);
    }
    return std::vector<Outcome>{AsOutcome(ACL_FLOAT, rows.mean), AsOutcome(ACL_FLOAT, rows.rstd),
                                AsOutcome(call["yOut"].dtype, out)};
  };
  return op;
}

struct SumGradient {
  std::vector<double> of_sum;
  std::vector<double> of_gamma;
  std::vector<double> of_beta;
};
// By the chain rule: of the gradient g * rstd for s directly, what it does to the mean and to the variance.
SumGradient GradientOf(const Shape& shape, const Shape& gamma, const TensorValues& dy,
                       const TensorValues& weight, const TensorValues& mean, const TensorValues& rstd,
                       const std::function<double(int64_t)>& s) {
  SumGradient all;
  const int64_t n = NumElements(gamma);
  all.of_sum.resize(static_cast<size_t>(NumElements(shape)));
  all.of_gamma.resize(static_cast<size_t>(n));
  all.of_beta.resize(static_cast<size_t>(n));
  if (NumElements(shape) == 0) return all;
  int64_t number = 0;
  for (const auto& row : RowsOf(shape, LastAxesOf(shape, gamma.size()))) {
    const double r = ValueAt(rstd, number);
    const double m = ValueAt(mean, number++);
    const auto g = [&](int64_t i) { return ValueAt(dy, i) * ValueAt(weight, i % n); };
    const double direct = SumOf(row, g) / static_cast<double>(n);
    const double of_variance =
        SumOf(row, [&](int64_t i) { return g(i) * (s(i) - m) * r; }) / static_cast<double>(n);
    for (const int64_t i : row) {
      const double h = (s(i) - m) * r;
      all.of_sum[static_cast<size_t>(i)] = r * (g(i) - direct - h * of_variance);
      all.of_gamma[static_cast<size_t>(i % n)] += ValueAt(dy, i) * h;
      all.of_beta[static_cast<size_t>(i % n)] += ValueAt(dy, i);
    }
  }
  return all;
}

OperatorSpec DeepGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnDeepNormGrad);
  op.valid = {TensorArg("dy", {2, 3, 4}), TensorArg("x", {2, 3, 4}),     TensorArg("gx", {2, 3, 4}),
              TensorArg("gamma", {4}),    TensorArg("mean", {2, 3, 1}),  TensorArg("rstd", {2, 3, 1}),
              RealArg("alpha", 0.3),      OutputArg("dxOut", {2, 3, 4}), OutputArg("dgxOut", {2, 3, 4}),
              OutputArg("dbetaOut", {4}), OutputArg("dgammaOut", {4})};
  op.rules = {NoNulls("dy x gx gamma mean rstd dxOut dgxOut dbetaOut dgammaOut"),
              DtypeIn("dy", kF3),
              SameDtype("dy", "x"),
              SameDtype("dy", "gx"),
              SameDtype("dy", "gamma"),
              DtypeIn("mean rstd dbetaOut dgammaOut", kFloatAlone),
              SameDtype("dy", "dxOut"),
              SameDtype("dy", "dgxOut"),
              TilingRank("dy", 2, 8),
              TilingRank("gamma", 0, 7),
              TilingShape("dy", "x"),
              TilingShape("dy", "gx"),
              Tail("gamma", "dy"),
              Numbers("mean", "gamma", "dy"),
              Numbers("rstd", "gamma", "dy"),
              TilingShape("dy", "dxOut"),
              TilingShape("dy", "dgxOut"),
              TilingShape("gamma", "dbetaOut"),
              TilingShape("gamma", "dgammaOut")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"dy", "x", "gx", "dxOut", "dgxOut", "gamma"}, {"gamma", "dbetaOut", "dgammaOut"},
              {"mean", "rstd"}, 2, 7);
    call["alpha"].real = random.Below(2) == 0 ? 0.3 : 2.5;
  };
  op.fill = FillRows;
  op.tolerance = 2e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const SumGradient all =
        GradientOf(call["dy"].shape, call["gamma"].shape, tensors[0], tensors[3], tensors[4], tensors[5],
                   [&](int64_t i) {
                     return WeightedSum(call["alpha"].real, ValueAt(tensors[1], i), ValueAt(tensors[2], i));
                   });
    std::vector<double> dx;
    for (const double one : all.of_sum) dx.push_back(one * Single(call["alpha"].real));
    const DtypeNumber dtype = call["dxOut"].dtype;
    return std::vector<Outcome>{AsOutcome(dtype, dx), AsOutcome(dtype, all.of_sum),
                                AsOutcome(ACL_FLOAT, all.of_beta), AsOutcome(ACL_FLOAT, all.of_gamma)};
  };
  return op;
}

OperatorSpec SumGradientOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAddLayerNormGrad);
  op.valid = {TensorArg("dy", {2, 3, 4}),           TensorArg("x1", {2, 3, 4}),
              TensorArg("x2", {2, 3, 4}),           TensorArg("rstd", {2, 3, 1}),
              TensorArg("mean", {2, 3, 1}),         TensorArg("gamma", {4}),
              TensorArg("dsumOptional", {2, 3, 4}), OutputArg("dxOut", {2, 3, 4}),
              OutputArg("dgammaOut", {4}),          OutputArg("dbetaOut", {4})};
  op.rules = {NoNulls("dy x1 x2 rstd mean gamma dxOut dgammaOut dbetaOut"),
              InferenceToo("dy"),
              SameDtype("dy", "x1"),
              SameDtype("dy", "x2"),
              DtypeIn("rstd mean", kFloatAlone),
              FloatOrOf("gamma", "dy"),
              Given("dsumOptional", SameDtype("dy", "dsumOptional")),
              SameDtype("dy", "dxOut"),
              DtypeIn("dgammaOut dbetaOut", kFloatAlone),
              TilingRank("dy", 1, 8),
              TilingShape("dy", "x1"),
              TilingShape("dy", "x2"),
              Tail("gamma", "dy"),
              Numbers("rstd", "gamma", "dy"),
              Numbers("mean", "gamma", "dy"),
              Given("dsumOptional", TilingShape("dy", "dsumOptional")),
              TilingShape("dy", "dxOut"),
              TilingShape("gamma", "dgammaOut"),
              TilingShape("gamma", "dbetaOut")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"dy", "x1", "x2", "dxOut", "dsumOptional"}, {"gamma", "dbetaOut", "dgammaOut"},
              {"mean", "rstd"}, 1, 8);
    call["gamma"].dtype = random.Below(2) == 0 ? DtypeNumber{ACL_FLOAT} : call["dy"].dtype;
    call["dsumOptional"].null = random.Below(3) == 0;
  };
  op.fill = FillRows;
  op.tolerance = 2e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const SumGradient all =
        GradientOf(call["dy"].shape, call["gamma"].shape, tensors[0], tensors[5], tensors[4], tensors[3],
                   [&](int64_t i) { return WeightedSum(1, ValueAt(tensors[1], i), ValueAt(tensors[2], i)); });
    std::vector<double> dx(all.of_sum);
    for (int64_t i = 0; i < std::ssize(dx); ++i) {
      if (!call["dsumOptional"].null) dx[static_cast<size_t>(i)] += ValueAt(tensors[6], i);
    }
    return std::vector<Outcome>{AsOutcome(call["dxOut"].dtype, dx), AsOutcome(ACL_FLOAT, all.of_gamma),
                                AsOutcome(ACL_FLOAT, all.of_beta)};
  };
  return op;
}

}  // namespace

const std::vector<OperatorSpec>& FusedRowOperators() {
  static const std::vector<OperatorSpec> all = [] {
    std::vector<OperatorSpec> every = {Gemma(),        InplaceSum(),         CastSum(), BiasedSum(), Deep(),
                                       DeepGradient(), SumGradientOperator()};
    for (const OperatorSpec& op : norms::FusedGroups()) every.push_back(op);
    return every;
  }();
  return all;
}

}  // namespace portacl::testing
