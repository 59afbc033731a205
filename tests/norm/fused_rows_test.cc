// Norms and softmax fused with what serving puts around them, and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "row_calls.h"

#include <algorithm>

#include "aclnnop/families/norm.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

const Listed kF3 = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
const Listed kFloatAlone = {{ACL_FLOAT}};
constexpr aclnnStatus kTiling = 561002;

IndexRule TilingRank(const std::string& name, size_t least, size_t most) {
  return Tiling(name, [=](IndexCall& call) {
    return call[name].shape.size() < least || call[name].shape.size() > most;
  });
}
IndexRule TilingShape(const std::string& a, const std::string& b) {
  return Tiling(a + " " + b, [=](IndexCall& call) { return call[a].shape != call[b].shape; });
}
IndexRule InferenceToo(const std::string& name) {
  return Refuses(161002, name, [=](IndexCall& call) {
    const DtypeNumber dtype = call[name].dtype;
    const bool is_half = dtype == ACL_FLOAT || dtype == ACL_FLOAT16;
    if (call.product == Product::k310P) return !is_half;
    const bool is_new =
        call.product == Product::kA2 || call.product == Product::kA3 || call.product == Product::k950;
    return !is_new || (!is_half && dtype != ACL_BF16);
  });
}
IndexRule FloatOrOf(const std::string& name, const std::string& other) {
  return Refuses(161002, name, [=](IndexCall& call) {
    return call[name].dtype != ACL_FLOAT && call[name].dtype != call[other].dtype;
  });
}
// The last dims of x, none of which is 0.
IndexRule Tail(const std::string& gamma, const std::string& x) {
  return Tiling(gamma, [=](IndexCall& call) {
    const Shape& tail = call[gamma].shape;
    const Shape& shape = call[x].shape;
    return tail.empty() || tail.size() > shape.size() || NumElements(tail) == 0 ||
           !std::equal(tail.begin(), tail.end(), shape.end() - std::ssize(tail));
  });
}
// A number for each row; dims of 1 at its end may be missing.
IndexRule Numbers(const std::string& numbers, const std::string& gamma, const std::string& x) {
  return Tiling(numbers, [=](IndexCall& call) {
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
IndexRule PositiveTiling(const std::string& name) {
  return Tiling(name, [=](IndexCall& call) { return !(call[name].real > 0); });
}

// A shape and its last dims; what is named so gets them, and one dtype.
void DrawTails(IndexCall& call, RandomNumbers& random, const std::vector<std::string>& rows,
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
double Single(double x) { return static_cast<double>(static_cast<float>(x)); }

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

IndexOperator Gemma() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnGemmaRmsNorm);
  op.valid = {TensorArg("x", {2, 3, 4}), TensorArg("gamma", {3, 4}), RealArg("epsilon", 1e-6),
              OutputArg("yOut", {2, 3, 4}), OutputArg("rstdOut", {2, 1, 1})};
  op.rules = {NoNulls("x gamma yOut rstdOut"),
              Listed_("x", kF3),
              OneDtype("x", "gamma"),
              OneDtype("x", "yOut"),
              Listed_("rstdOut", kFloatAlone),
              TilingRank("x", 1, 8),
              TilingRank("gamma", 0, 8),
              Tail("gamma", "x"),
              TilingShape("x", "yOut"),
              Tiling("epsilon", [](IndexCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x"),
              EmptyDone("x")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x", "yOut", "gamma"}, {"gamma"}, {"rstdOut"}, 1, 8);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const RmsRows rows = RmsOf(
        call["x"].shape, call["gamma"].shape, call["epsilon"].real,
        [&](int64_t i) { return ValueAt(tensors[0], i); },
        [&](int64_t i) { return 1 + ValueAt(tensors[1], i); });
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, rows.normed),
                                AsOutcome(ACL_FLOAT, rows.numbers)};
  };
  return op;
}

IndexOperator InplaceSum() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnInplaceAddRmsNorm);
  op.valid = {OutputArg("x1Ref", {2, 3, 4}), OutputArg("x2Ref", {2, 3, 4}), TensorArg("gamma", {4}),
              RealArg("epsilon", 1e-6), OutputArg("rstdOut", {2, 3, 1})};
  op.rules = {NoNulls("x1Ref x2Ref gamma rstdOut"),
              InferenceToo("x1Ref"),
              OneDtype("x1Ref", "x2Ref"),
              OneDtype("x1Ref", "gamma"),
              Listed_("rstdOut", kFloatAlone),
              TilingRank("x1Ref", 0, 8),
              TilingRank("x2Ref", 0, 8),
              TilingRank("gamma", 0, 8),
              TilingRank("x1Ref", 1, 8),
              TilingShape("x1Ref", "x2Ref"),
              Tiling("x1Ref", [](IndexCall& call) { return NumElements(call["x1Ref"].shape) == 0; }),
              Tail("gamma", "x1Ref"),
              Tiling("epsilon", [](IndexCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x1Ref")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x1Ref", "x2Ref", "gamma"}, {"gamma"}, {"rstdOut"}, 1, 8);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.updates = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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
IndexOperator CastSum() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnAddRmsNormCast);
  op.valid = {TensorArg("x1", {2, 3, 4}, ACL_BF16), TensorArg("x2", {2, 3, 4}, ACL_BF16),
              TensorArg("gamma", {4}, ACL_BF16),    RealArg("epsilon", 1e-6),
              OutputArg("y1Out", {2, 3, 4}),        OutputArg("y2Out", {2, 3, 4}, ACL_BF16),
              OutputArg("rstdOut", {2, 3, 1}),      OutputArg("xOut", {2, 3, 4}, ACL_BF16)};
  op.rules = {NoNulls("x1 x2 gamma y1Out y2Out rstdOut xOut"),
              Listed_("x1", {{}, {ACL_FLOAT16, ACL_BF16}}),
              OneDtype("x1", "x2"),
              OneDtype("x1", "gamma"),
              Listed_("y1Out rstdOut", kFloatAlone),
              OneDtype("x1", "y2Out"),
              OneDtype("x1", "xOut"),
              TilingRank("x1", 1, 8),
              TilingRank("x2", 0, 8),
              TilingRank("gamma", 0, 8),
              TilingShape("x1", "x2"),
              TilingShape("x1", "y1Out"),
              TilingShape("x1", "y2Out"),
              TilingShape("x1", "xOut"),
              Tail("gamma", "x1"),
              Tiling("epsilon", [](IndexCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x1"),
              EmptyDone("x1")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x1", "x2", "y1Out", "y2Out", "xOut"}, {"gamma"}, {"rstdOut"}, 1, 8);
    const DtypeNumber dtype = random.Below(2) == 0 ? ACL_FLOAT16 : ACL_BF16;
    for (const char* name : {"x1", "x2", "gamma", "y2Out", "xOut"}) call[name].dtype = dtype;
    call["y1Out"].dtype = ACL_FLOAT;
  };
  op.fill = FillRows;
  op.tolerance = 1e-2;  // one rounding to BF16 more than the oracle has
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

IndexOperator BiasedSum() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnAddRmsNormBias);
  op.valid = {TensorArg("x1", {2, 3, 4}),      TensorArg("x2", {2, 3, 4}),  TensorArg("gamma", {4}),
              TensorArg("betaOptional", {4}),  RealArg("epsilon", 1e-6),    OutputArg("yOut", {2, 3, 4}),
              OutputArg("rstdOut", {2, 3, 1}), OutputArg("xOut", {2, 3, 4})};
  const auto given = [](const IndexRule& rule) {
    return IndexRule([=](IndexCall& call) { return call["betaOptional"].null ? std::nullopt : rule(call); });
  };
  op.rules = {NoNulls("x1 x2 gamma yOut rstdOut xOut"),
              Listed_("x1", {{}, kRowDtypes}),
              OneDtype("x1", "x2"),
              OneDtype("x1", "gamma"),
              given(OneDtype("x1", "betaOptional")),
              OneDtype("x1", "yOut"),
              Listed_("rstdOut", kFloatAlone),
              OneDtype("x1", "xOut"),
              TilingRank("x1", 0, 8),
              TilingRank("x2", 0, 8),
              TilingRank("gamma", 0, 8),
              TilingRank("x1", 1, 8),
              TilingShape("x1", "x2"),
              TilingShape("x1", "yOut"),
              TilingShape("x1", "xOut"),
              Tail("gamma", "x1"),
              given(TilingShape("gamma", "betaOptional")),
              Tiling("epsilon", [](IndexCall& call) { return !(call["epsilon"].real >= 0); }),
              Numbers("rstdOut", "gamma", "x1"),
              EmptyDone("x1")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x1", "x2", "yOut", "xOut"}, {"gamma"}, {"rstdOut"}, 1, 8);
    call["betaOptional"].shape = call["gamma"].shape;
    call["betaOptional"].dtype = call["gamma"].dtype;
    call["betaOptional"].null = random.Below(3) == 0;
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

IndexOperator Deep() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnDeepNorm);
  op.valid = {TensorArg("x", {2, 3, 4}),       TensorArg("gx", {2, 3, 4}),      TensorArg("beta", {4}),
              TensorArg("gamma", {4}),         RealArg("alpha", 0.3),           RealArg("epsilon", 1e-5),
              OutputArg("meanOut", {2, 3, 1}), OutputArg("rstdOut", {2, 3, 1}), OutputArg("yOut", {2, 3, 4})};
  op.rules = {NoNulls("x gx beta gamma meanOut rstdOut yOut"),
              Listed_("x", kF3),
              OneDtype("x", "gx"),
              OneDtype("x", "beta"),
              OneDtype("x", "gamma"),
              Listed_("meanOut rstdOut", kFloatAlone),
              OneDtype("x", "yOut"),
              TilingRank("x", 2, 8),
              TilingRank("gamma", 0, 7),
              TilingShape("x", "gx"),
              Tail("gamma", "x"),
              TilingShape("gamma", "beta"),
              TilingShape("x", "yOut"),
              Numbers("meanOut", "gamma", "x"),
              Numbers("rstdOut", "gamma", "x"),
              EmptyDone("x")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"x", "gx", "yOut", "gamma", "beta"}, {"gamma", "beta"}, {"meanOut", "rstdOut"},
              2, 7);
    call["alpha"].real = random.Below(2) == 0 ? 0.3 : 2.5;
    call["epsilon"].real = 0.01;  // what the mean's rounding becomes stays small
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

IndexOperator DeepGradient() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnDeepNormGrad);
  op.valid = {TensorArg("dy", {2, 3, 4}), TensorArg("x", {2, 3, 4}),     TensorArg("gx", {2, 3, 4}),
              TensorArg("gamma", {4}),    TensorArg("mean", {2, 3, 1}),  TensorArg("rstd", {2, 3, 1}),
              RealArg("alpha", 0.3),      OutputArg("dxOut", {2, 3, 4}), OutputArg("dgxOut", {2, 3, 4}),
              OutputArg("dbetaOut", {4}), OutputArg("dgammaOut", {4})};
  op.rules = {NoNulls("dy x gx gamma mean rstd dxOut dgxOut dbetaOut dgammaOut"),
              Listed_("dy", kF3),
              OneDtype("dy", "x"),
              OneDtype("dy", "gx"),
              OneDtype("dy", "gamma"),
              Listed_("mean rstd dbetaOut dgammaOut", kFloatAlone),
              OneDtype("dy", "dxOut"),
              OneDtype("dy", "dgxOut"),
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
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"dy", "x", "gx", "dxOut", "dgxOut", "gamma"}, {"gamma", "dbetaOut", "dgammaOut"},
              {"mean", "rstd"}, 2, 7);
    call["alpha"].real = random.Below(2) == 0 ? 0.3 : 2.5;
  };
  op.fill = FillRows;
  op.tolerance = 2e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

IndexOperator SumGradientOperator() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnAddLayerNormGrad);
  op.valid = {TensorArg("dy", {2, 3, 4}),           TensorArg("x1", {2, 3, 4}),
              TensorArg("x2", {2, 3, 4}),           TensorArg("rstd", {2, 3, 1}),
              TensorArg("mean", {2, 3, 1}),         TensorArg("gamma", {4}),
              TensorArg("dsumOptional", {2, 3, 4}), OutputArg("dxOut", {2, 3, 4}),
              OutputArg("dgammaOut", {4}),          OutputArg("dbetaOut", {4})};
  op.rules = {NoNulls("dy x1 x2 rstd mean gamma dxOut dgammaOut dbetaOut"),
              InferenceToo("dy"),
              OneDtype("dy", "x1"),
              OneDtype("dy", "x2"),
              Listed_("rstd mean", kFloatAlone),
              FloatOrOf("gamma", "dy"),
              Given("dsumOptional", OneDtype("dy", "dsumOptional")),
              OneDtype("dy", "dxOut"),
              Listed_("dgammaOut dbetaOut", kFloatAlone),
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
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawTails(call, random, {"dy", "x1", "x2", "dxOut", "dsumOptional"}, {"gamma", "dbetaOut", "dgammaOut"},
              {"mean", "rstd"}, 1, 8);
    call["gamma"].dtype = random.Below(2) == 0 ? DtypeNumber{ACL_FLOAT} : call["dy"].dtype;
    call["dsumOptional"].null = random.Below(3) == 0;
  };
  op.fill = FillRows;
  op.tolerance = 2e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
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

// ---- group norms with a function ----

int64_t Channels(const IndexCall& call, const char* x) { return call[x].shape[1]; }
IndexRule GroupsFit(aclnnStatus code, const std::string& groups, const char* x) {
  return Refuses(code, groups, [=](IndexCall& call) {
    return call[groups].integer <= 0 || Channels(call, x) % call[groups].integer != 0;
  });
}
IndexRule OfGroups(aclnnStatus code, const std::string& name, const std::string& groups, const char* x) {
  return Refuses(code, name, [=](IndexCall& call) {
    return call[name].shape != Shape{call[x].shape[0], call[groups].integer};
  });
}
IndexRule OfChannels(aclnnStatus code, const std::string& name, const char* x) {
  return Refuses(code, name, [=](IndexCall& call) { return call[name].shape != Shape{Channels(call, x)}; });
}
// The positions of a shape [N, C, ...] group by group; and which channel a position is of.
std::vector<std::vector<int64_t>> GroupRows(const Shape& shape, int64_t groups) {
  std::vector<std::vector<int64_t>> rows(static_cast<size_t>(shape[0] * groups));
  const int64_t behind = NumElements(Shape(shape.begin() + 2, shape.end()));
  for (int64_t i = 0; i < NumElements(shape); ++i)
    rows[static_cast<size_t>(i / (behind * (shape[1] / groups)))].push_back(i);
  return rows;
}
int64_t ChannelAt(const Shape& shape, int64_t position) {
  return position / NumElements(Shape(shape.begin() + 2, shape.end())) % shape[1];
}
void DrawGroups(IndexCall& call, RandomNumbers& random, const std::vector<std::string>& images,
                const std::vector<std::string>& of_channels, const std::vector<std::string>& of_groups,
                const std::string& groups, size_t most) {
  Shape shape = DrawShape(random, 2, most, 4);
  const int64_t count = random.Between(1, 3);
  shape[1] = count * random.Between(1, 3);
  if (shape.size() == 3 && random.Below(3) == 0) shape[2] = random.Between(1, 900);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : images) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
  for (const std::string& name : of_channels) call[name].shape = {shape[1]};
  for (const std::string& name : of_groups) call[name].shape = {shape[0], count};
  call[groups].integer = count;
}
double Sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

std::vector<Outcome> SwishOracle(const IndexCall& call, const std::vector<TensorValues>& tensors,
                                 const char* x, int64_t groups, double eps, double scale, bool activates,
                                 const char* out, const char* number) {
  const Shape& shape = call[x].shape;
  std::vector<double> result(tensors[0].elements.size());
  std::vector<double> mean;
  std::vector<double> rstd;
  const bool is_empty = NumElements(shape) == 0;
  for (const auto& row : GroupRows(shape, groups)) {
    if (is_empty) {
      mean.push_back(0);
      rstd.push_back(std::numeric_limits<double>::quiet_NaN());
      continue;
    }
    const auto n = static_cast<double>(row.size());
    const auto at = [&](int64_t i) { return ValueAt(tensors[0], i); };
    mean.push_back(SumOf(row, at) / n);
    const double variance = SumOf(row, [&](int64_t i) { return std::pow(at(i) - mean.back(), 2); }) / n;
    rstd.push_back(1 / std::sqrt(variance + Single(eps)));
    for (const int64_t i : row) {
      const int64_t channel = ChannelAt(shape, i);
      const double gamma = call["gamma"].null ? 1 : ValueAt(tensors[1], channel);
      const double beta = call["beta"].null ? 0 : ValueAt(tensors[2], channel);
      const double g = (at(i) - mean.back()) * rstd.back() * gamma + beta;
      result[static_cast<size_t>(i)] = activates ? g * Sigmoid(Single(scale) * g) : g;
    }
  }
  return {AsOutcome(call[out].dtype, result), AsOutcome(call[number].dtype, mean),
          AsOutcome(call[number].dtype, rstd)};
}

IndexOperator Silu(const CFunction& function, bool has_flag) {
  IndexOperator op;
  op.function = function;
  op.valid = {TensorArg("self", {2, 6, 4}), TensorArg("gamma", {6}), TensorArg("beta", {6}),
              IntegerArg("group", 3), RealArg("eps", 1e-5)};
  if (has_flag) op.valid.push_back(IntegerArg("activateSilu", 1));
  op.valid.insert(op.valid.end(),
                  {OutputArg("out", {2, 6, 4}), OutputArg("meanOut", {2, 3}), OutputArg("rstdOut", {2, 3})});
  const auto has_both = [](const IndexRule& rule) {
    return
        [=](IndexCall& call) { return call["gamma"].null || call["beta"].null ? std::nullopt : rule(call); };
  };
  const auto of_numbers = [](const std::string& name) {
    return Refuses(161002, name, [=](IndexCall& call) {
      const bool is_gammas = call.product == Product::k950 && !call["gamma"].null;
      return call[name].dtype != call[is_gammas ? "gamma" : "self"].dtype;
    });
  };
  op.rules = {NoNulls("self out meanOut rstdOut"),
              Listed_("self", kF3),
              has_both(OneDtype("gamma", "beta")),
              has_both(FloatOrOf("gamma", "self")),
              OneDtype("self", "out"),
              of_numbers("meanOut"),
              of_numbers("rstdOut"),
              RankRange("self", 2, 8),
              OneShape("self", "out"),
              OfGroups(161002, "meanOut", "group", "self"),
              OfGroups(161002, "rstdOut", "group", "self"),
              Given("gamma", OfChannels(161002, "gamma", "self")),
              Given("beta", OfChannels(161002, "beta", "self")),
              Refuses(161002, "self",
                      [](IndexCall& call) {
                        return call.product != Product::k950 &&
                               (call["self"].shape[0] == 0 || call["self"].shape[1] == 0);
                      }),
              GroupsFit(161002, "group", "self"),
              Refuses(161002, "eps", [](IndexCall& call) { return !(call["eps"].real > 0); }),
              Given("gamma", FloatOrOf("gamma", "self")),
              Given("beta", FloatOrOf("beta", "self"))};
  op.draw = [=](IndexCall& call, RandomNumbers& random) {
    DrawGroups(call, random, {"self", "out", "gamma", "beta", "meanOut", "rstdOut"}, {"gamma", "beta"},
               {"meanOut", "rstdOut"}, "group", 8);
    for (const char* name : {"gamma", "beta"}) call[name].null = random.Below(4) == 0;
    if (random.Below(3) == 0) call["gamma"].dtype = call["beta"].dtype = ACL_FLOAT;
    if (has_flag) call["activateSilu"].integer = random.Between(0, 1);
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [=](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    return SwishOracle(call, tensors, "self", call["group"].integer, call["eps"].real, 1,
                       !has_flag || call["activateSilu"].integer != 0, "out", "meanOut");
  };
  return op;
}

IndexOperator Swish() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnGroupNormSwish);
  op.valid = {TensorArg("x", {2, 6, 4}),
              TensorArg("gamma", {6}),
              TensorArg("beta", {6}),
              IntegerArg("numGroups", 3),
              TextArg("dataFormatOptional", "NCHW"),
              RealArg("eps", 1e-5),
              IntegerArg("activateSwish", 1),
              RealArg("swishScale", 1.25),
              OutputArg("yOut", {2, 6, 4}),
              OutputArg("meanOut", {2, 3}),
              OutputArg("rstdOut", {2, 3})};
  op.rules = {NoNulls("x gamma beta yOut meanOut rstdOut"),
              Listed_("x", kF3),
              FloatOrOf("gamma", "x"),
              OneDtype("gamma", "beta"),
              OneDtype("x", "yOut"),
              OneDtype("gamma", "meanOut"),
              OneDtype("gamma", "rstdOut"),
              TilingRank("x", 2, 8),
              TilingShape("x", "yOut"),
              OfChannels(kTiling, "gamma", "x"),
              OfChannels(kTiling, "beta", "x"),
              GroupsFit(kTiling, "numGroups", "x"),
              OfGroups(kTiling, "meanOut", "numGroups", "x"),
              OfGroups(kTiling, "rstdOut", "numGroups", "x"),
              PositiveTiling("eps")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    const std::vector<std::string> weights = {"gamma", "beta", "meanOut", "rstdOut"};
    DrawGroups(call, random, {"x", "yOut", "gamma", "beta", "meanOut", "rstdOut"}, {"gamma", "beta"},
               {"meanOut", "rstdOut"}, "numGroups", 8);
    if (random.Below(3) == 0) {
      for (const std::string& name : weights) call[name].dtype = ACL_FLOAT;
    }
    call["activateSwish"].integer = random.Between(0, 1);
    call["swishScale"].real = random.Below(2) == 0 ? 1 : -1.7;
  };
  op.fill = FillRows;
  op.tolerance = 3e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    return SwishOracle(call, tensors, "x", call["numGroups"].integer, call["eps"].real,
                       call["swishScale"].real, call["activateSwish"].integer != 0, "yOut", "meanOut");
  };
  return op;
}

IndexOperator SwishGradient() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnGroupNormSwishGrad);
  op.valid = {TensorArg("dy", {2, 6, 4}),      TensorArg("mean", {2, 3}),
              TensorArg("rstd", {2, 3}),       TensorArg("x", {2, 6, 4}),
              TensorArg("gamma", {6}),         TensorArg("beta", {6}),
              IntegerArg("numGroups", 3),      TextArg("dataFormatOptional", "NCHW"),
              RealArg("swishScale", 1.25),     IntegerArg("dgammaIsRequire", 1),
              IntegerArg("dbetaIsRequire", 1), OutputArg("dxOut", {2, 6, 4}),
              OutputArg("dgammaOut", {6}),     OutputArg("dbetaOut", {6})};
  op.rules = {NoNulls("dy mean rstd x gamma beta dxOut dgammaOut dbetaOut"),
              Listed_("dy", kF3),
              OneDtype("dy", "x"),
              FloatOrOf("gamma", "dy"),
              OneDtype("gamma", "beta"),
              OneDtype("gamma", "mean"),
              OneDtype("gamma", "rstd"),
              OneDtype("dy", "dxOut"),
              OneDtype("gamma", "dgammaOut"),
              OneDtype("gamma", "dbetaOut"),
              TilingRank("x", 2, 8),
              TilingShape("dy", "x"),
              OfChannels(kTiling, "gamma", "x"),
              OfChannels(kTiling, "beta", "x"),
              GroupsFit(kTiling, "numGroups", "x"),
              Tiling("numGroups",
                     [](IndexCall& call) { return Channels(call, "x") / call["numGroups"].integer > 4000; }),
              OfGroups(kTiling, "mean", "numGroups", "x"),
              OfGroups(kTiling, "rstd", "numGroups", "x"),
              TilingShape("dy", "dxOut"),
              OfChannels(kTiling, "dgammaOut", "x"),
              OfChannels(kTiling, "dbetaOut", "x"),
              EmptyDone("x")};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    const std::vector<std::string> weights = {"gamma", "beta", "mean", "rstd", "dgammaOut", "dbetaOut"};
    DrawGroups(call, random, {"dy", "x", "dxOut", "gamma", "beta", "mean", "rstd", "dgammaOut", "dbetaOut"},
               {"gamma", "beta", "dgammaOut", "dbetaOut"}, {"mean", "rstd"}, "numGroups", 8);
    if (random.Below(3) == 0) {
      for (const std::string& name : weights) call[name].dtype = ACL_FLOAT;
    }
    call["dgammaIsRequire"].integer = random.Between(0, 1);
    call["dbetaIsRequire"].integer = random.Between(0, 1);
    call["swishScale"].real = random.Below(2) == 0 ? 1 : -0.7;
  };
  op.fill = FillRows;
  op.tolerance = 3e-4;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& dy = tensors[0];
    const TensorValues& x = tensors[3];
    const double scale = Single(call["swishScale"].real);
    std::vector<double> dx(x.elements.size());
    std::vector<double> of_gamma(static_cast<size_t>(Channels(call, "x")));
    std::vector<double> of_beta(of_gamma.size());
    int64_t number = 0;
    for (const auto& row : GroupRows(x.shape, call["numGroups"].integer)) {
      const double mean = ValueAt(tensors[1], number);
      const double rstd = ValueAt(tensors[2], number++);
      const auto n = static_cast<double>(row.size());
      const auto h = [&](int64_t i) { return (ValueAt(x, i) - mean) * rstd; };
      const auto dn = [&](int64_t i) {
        const int64_t channel = ChannelAt(x.shape, i);
        const double g = h(i) * ValueAt(tensors[4], channel) + ValueAt(tensors[5], channel);
        const double share = Sigmoid(scale * g);
        return ValueAt(dy, i) * share * (1 + scale * g * (1 - share));
      };
      const auto e = [&](int64_t i) { return dn(i) * ValueAt(tensors[4], ChannelAt(x.shape, i)); };
      const double first = SumOf(row, e) / n;
      const double second = SumOf(row, [&](int64_t i) { return e(i) * h(i); }) / n;
      for (const int64_t i : row) {
        dx[static_cast<size_t>(i)] = rstd * (e(i) - first - h(i) * second);
        of_gamma[static_cast<size_t>(ChannelAt(x.shape, i))] += dn(i) * h(i);
        of_beta[static_cast<size_t>(ChannelAt(x.shape, i))] += dn(i);
      }
    }
    const auto wanted = [&](const char* flag, const char* name, const std::vector<double>& numbers) {
      return call[flag].integer != 0 ? AsOutcome(call[name].dtype, numbers) : Outcome(numbers.size());
    };
    return std::vector<Outcome>{AsOutcome(call["dxOut"].dtype, dx),
                                wanted("dgammaIsRequire", "dgammaOut", of_gamma),
                                wanted("dbetaIsRequire", "dbetaOut", of_beta)};
  };
  return op;
}

// ---- softmax of scores ----

std::vector<double> Shares(const Shape& shape, const std::function<double(int64_t)>& score) {
  std::vector<double> out(static_cast<size_t>(NumElements(shape)));
  for (const auto& row : RowsOf(shape, LastAxesOf(shape, 1))) {
    double greatest = -std::numeric_limits<double>::infinity();
    for (const int64_t i : row) greatest = std::fmax(greatest, score(i));
    const double sum = SumOf(row, [&](int64_t i) { return std::exp(score(i) - greatest); });
    for (const int64_t i : row) out[static_cast<size_t>(i)] = std::exp(score(i) - greatest) / sum;
  }
  return out;
}
IndexRules MaskedRules(const std::string& x, const std::string& out) {
  return {Listed_(x, kF3),
          Listed_("mask", {{ACL_BOOL}}),
          OneDtype(x, out),
          RankRange(x + " mask " + out, 4, 4),
          Refuses(161002, "mask",
                  [=](IndexCall& call) {
                    const Shape& scores = call[x].shape;
                    const Shape& mask = call["mask"].shape;
                    return mask[2] != scores[2] || mask[3] != scores[3] ||
                           (mask[0] != 1 && mask[0] != scores[0]) || (mask[1] != 1 && mask[1] != scores[1]);
                  }),
          Refuses(161002, x,
                  [=](IndexCall& call) {
                    const int64_t most = call.product == Product::k950 ? 8192 : 4096;
                    return call[x].shape[3] < 1 || call[x].shape[3] > most;
                  }),
          Refuses(161002, "fixTriuMask", [](IndexCall& call) { return call["fixTriuMask"].integer != 0; }),
          TilingShape(x, out),
          EmptyDone(x)};
}
void DrawMasked(IndexCall& call, RandomNumbers& random, const std::vector<std::string>& scores) {
  Shape shape = DrawShape(random, 4, 4, 4);
  if (random.Below(2) == 0) shape[3] = random.Between(1, random.Below(6) == 0 ? 4096 : 150);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : scores) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
  call["mask"].shape = shape;
  for (size_t i = 0; i < 2; ++i) {
    if (random.Below(2) == 0) call["mask"].shape[i] = 1;
  }
  call["scale"].real = random.Below(2) == 0 ? 0.125 : -3;
}
bool IsHidden(const TensorValues& mask, const Shape& shape, int64_t position) {
  return ValueAt(mask, IndexAt(shape, position)) != 0;
}

// BOOLs of 0 and 1, mostly 0.
void FillMasked(const IndexCall& call, std::vector<HostTensor>& tensors, RandomNumbers& random) {
  FillRows(call, tensors, random);
  for (HostTensor& tensor : tensors) {
    if (tensor.dtype() != ACL_BOOL) continue;
    for (int64_t k = 0; k < tensor.size(); ++k)
      *tensor.Element(k) = static_cast<std::byte>(random.Below(3) == 0 ? 1 : 0);
  }
}

IndexOperator Masked() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnScaledMaskedSoftmax);
  op.valid = {TensorArg("x", {2, 3, 4, 5}), TensorArg("mask", {2, 3, 4, 5}, ACL_BOOL), RealArg("scale", 0.5),
              IntegerArg("fixTriuMask", 0), OutputArg("y", {2, 3, 4, 5})};
  op.rules = {NoNulls("x mask y", 561103)};
  const IndexRules rules = MaskedRules("x", "y");
  op.rules.insert(op.rules.end(), rules.begin(), rules.end());
  op.draw = [](IndexCall& call, RandomNumbers& random) { DrawMasked(call, random, {"x", "y"}); };
  op.fill = FillMasked;
  op.tolerance = 3e-6;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x"].shape;
    const auto out = Shares(shape, [&](int64_t i) {
      return IsHidden(tensors[1], shape, i) ? -10000.0
                                            : Single(ValueAt(tensors[0], i) * Single(call["scale"].real));
    });
    return std::vector<Outcome>{AsOutcome(call["y"].dtype, out)};
  };
  return op;
}

IndexOperator MaskedGradient() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnScaledMaskedSoftmaxBackward);
  op.valid = {TensorArg("gradOutput", {2, 3, 4, 5}),
              TensorArg("y", {2, 3, 4, 5}),
              TensorArg("mask", {2, 3, 4, 5}, ACL_BOOL),
              RealArg("scale", 0.5),
              IntegerArg("fixTriuMask", 0),
              OutputArg("out", {2, 3, 4, 5})};
  op.rules = {NoNulls("gradOutput y mask out")};
  const IndexRules rules = MaskedRules("gradOutput", "out");
  op.rules.insert(op.rules.end(), rules.begin(), rules.end());
  op.rules.push_back(OneDtype("gradOutput", "y"));
  op.rules.push_back(TilingShape("gradOutput", "y"));
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    DrawMasked(call, random, {"gradOutput", "y", "out"});
  };
  op.fill = FillMasked;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["y"].shape;
    std::vector<double> out(tensors[0].elements.size());
    for (const auto& row : RowsOf(shape, LastAxesOf(shape, 1))) {
      const double sum =
          SumOf(row, [&](int64_t i) { return ValueAt(tensors[0], i) * ValueAt(tensors[1], i); });
      for (const int64_t i : row) {
        const double slope =
            (ValueAt(tensors[0], i) - sum) * ValueAt(tensors[1], i) * Single(call["scale"].real);
        out[static_cast<size_t>(i)] = IsHidden(tensors[2], shape, i) ? 0 : slope;
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

IndexOperator Windows() {
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnMaskedSoftmaxWithRelPosBias);
  op.valid = {TensorArg("x", {4, 3, 4, 5}),
              TensorArg("attenMaskOptional", {2, 4, 5}),
              TensorArg("relativePosBias", {3, 4, 5}),
              RealArg("scaleValue", 0.5),
              IntegerArg("innerPrecisionMode", 0),
              OutputArg("out", {4, 3, 4, 5})};
  // The product of the dims before the last two, of which at most one is not 1; else -1.
  const auto planes = [](const Shape& shape, const Shape& x) {
    int64_t found = 1;
    if (shape.size() < 2 || !std::equal(shape.end() - 2, shape.end(), x.end() - 2)) return int64_t{-1};
    for (size_t i = 0; i + 2 < shape.size(); ++i) {
      if (shape[i] != 1 && found != 1) return int64_t{-1};
      found = shape[i] == 1 ? found : shape[i];
    }
    return found;
  };
  op.rules = {
      NoNulls("x relativePosBias out"),
      Refuses(161002, "x",
              [](IndexCall& call) {
                const DtypeNumber dtype = call["x"].dtype;
                const bool is_half = dtype == ACL_FLOAT || dtype == ACL_FLOAT16;
                if (call.product == Product::k310P) return !is_half;
                if (call.product != Product::kA2 && call.product != Product::kA3) return true;
                return !is_half && dtype != ACL_BF16;
              }),
      Given("attenMaskOptional", OneDtype("x", "attenMaskOptional")),
      OneDtype("x", "relativePosBias"),
      OneDtype("x", "out"),
      TilingRank("x", 4, 5),
      TilingShape("x", "out"),
      Given("attenMaskOptional", TilingRank("attenMaskOptional", 0, 8)),
      TilingRank("relativePosBias", 0, 8),
      EmptyDone("x"),
      Given("attenMaskOptional", Tiling("attenMaskOptional",
                                        [=](IndexCall& call) {
                                          const Shape& x = call["x"].shape;
                                          const int64_t windows = planes(call["attenMaskOptional"].shape, x);
                                          if (windows <= 0) return true;
                                          return x.size() == 5 ? windows != x[1] : x[0] % windows != 0;
                                        })),
      Tiling("relativePosBias", [=](IndexCall& call) {
        const Shape& x = call["x"].shape;
        return planes(call["relativePosBias"].shape, x) != x[x.size() - 3];
      })};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    const int64_t windows = random.Between(1, 3);
    const int64_t batches = random.Between(1, 3);
    const int64_t heads = random.Between(1, 3);
    const int64_t rows = random.Between(1, 6);
    const int64_t columns = random.Between(1, random.Below(3) == 0 ? 90 : 7);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"x", "out"})
      call[name].shape = random.Below(2) == 0 ? Shape{batches * windows, heads, rows, columns}
                                              : Shape{batches, windows, heads, rows, columns};
    call["out"].shape = call["x"].shape;
    call["attenMaskOptional"].shape = {windows, rows, columns};
    if (random.Below(3) == 0) call["attenMaskOptional"].shape = {1, windows, 1, rows, columns};
    call["attenMaskOptional"].null = random.Below(4) == 0;
    call["relativePosBias"].shape = {heads, rows, columns};
    if (random.Below(3) == 0) call["relativePosBias"].shape = {1, heads, rows, columns};
    for (const char* name : {"x", "out", "attenMaskOptional", "relativePosBias"}) call[name].dtype = dtype;
  };
  op.fill = FillRows;
  op.tolerance = 1e-5;
  op.is_inexact = true;
  op.oracle = [](const IndexCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& x = call["x"].shape;
    const int64_t plane = x[x.size() - 2] * x[x.size() - 1];
    const int64_t heads = x[x.size() - 3];
    const auto out = Shares(x, [&](int64_t i) {
      double score = Single(ValueAt(tensors[0], i) * Single(call["scaleValue"].real));
      if (!call["attenMaskOptional"].null) {
        const int64_t windows = NumElements(call["attenMaskOptional"].shape) / plane;
        score = Single(score + ValueAt(tensors[1], i / (plane * heads) % windows * plane + i % plane));
      }
      return Single(score + ValueAt(tensors[2], i / plane % heads * plane + i % plane));
    });
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> all = {
      Gemma(),
      InplaceSum(),
      CastSum(),
      BiasedSum(),
      Deep(),
      DeepGradient(),
      SumGradientOperator(),
      Silu(PORTACL_C_FUNCTION(aclnnGroupNormSilu), false),
      Silu(PORTACL_C_FUNCTION(aclnnGroupNormSiluV2), true),
      Swish(),
      SwishGradient(),
      Masked(),
      MaskedGradient(),
      Windows(),
  };
  return all;
}

PORTACL_INDEX_TESTS(FusedRows, Operators());

}  // namespace
}  // namespace portacl::testing
