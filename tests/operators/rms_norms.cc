// RMS norms, norms of sums, and slices scaled to a norm, as descriptions.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/families/norm.h"
#include "norm/row_calls.h"
#include "operators/norm_rules.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

using namespace norms;

// ---- RMS norm ----

bool RmsHas(const PlanCall& call, DtypeNumber dtype) {
  const Listed listed = {{}, kRowDtypes};
  return listed.Has(call.product, dtype) ||
         (call.product == Product::k310P && IsOneOf(dtype, {ACL_FLOAT, ACL_FLOAT16}));
}
Rule RmsListed(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) { return !RmsHas(call, call[name].dtype); });
}

Rule GammaDtype(const std::string& gamma, const std::string& x) {
  return Refuses(161002, gamma, [=](PlanCall& call) {
    const bool is_old = !RmsHas(call, ACL_BF16);
    return call[gamma].dtype != call[x].dtype && (is_old || call[gamma].dtype != ACL_FLOAT);
  });
}
Rule GammaTail(const std::string& gamma, const std::string& x) {
  return Refuses(561002, gamma, [=](PlanCall& call) {
    return !FitsTail(call[x].shape, call[gamma].shape) || NumElements(call[gamma].shape) == 0;
  });
}
Rule RstdLeads(const std::string& rstd, const std::string& gamma, const std::string& x) {
  return Refuses(561002, rstd, [=](PlanCall& call) {
    const Shape& shape = call[x].shape;
    const size_t leading = shape.size() - call[gamma].shape.size();
    const Shape& numbers = call[rstd].shape;
    if (numbers.size() > shape.size()) return true;
    for (size_t i = 0; i < std::max(numbers.size(), leading); ++i) {
      if ((i < numbers.size() ? numbers[i] : 1) != (i < leading ? shape[i] : 1)) return true;
    }
    return false;
  });
}
Rule OneShapeTiling(const std::string& a, const std::string& b) {
  return Refuses(561002, a + " " + b, [=](PlanCall& call) { return call[a].shape != call[b].shape; });
}
Rule RankTiling(const std::string& name, size_t least, size_t most) {
  return Refuses(561002, name, [=](PlanCall& call) {
    return call[name].shape.size() < least || call[name].shape.size() > most;
  });
}

void DrawRms(PlanCall& call, RandomNumbers& random, const std::vector<std::string>& rows,
             const std::string& gamma, const std::string& rstd, size_t least) {
  Shape shape;
  Shape tail;
  do {
    DrawNorm(call, random, &shape, &tail);
  } while (shape.size() < least);
  const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
  for (const std::string& name : rows) {
    call[name].shape = shape;
    call[name].dtype = dtype;
  }
  call[gamma].shape = tail;
  call[gamma].dtype = random.Below(2) == 0 ? dtype : ACL_FLOAT;
  Shape numbers = LeadingAndOnes(shape, tail.size());
  if (random.Below(2) == 0) numbers.resize(shape.size() - tail.size());
  while (!numbers.empty() && numbers.back() == 1 && random.Below(2) == 0) numbers.pop_back();
  call[rstd].shape = numbers;
}

OperatorSpec RmsNormOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNorm);
  op.valid = {TensorArg("x", {2, 3, 4}), TensorArg("gamma", {3, 4}), RealArg("epsilon", 1e-6),
              OutputArg("yOut", {2, 3, 4}), OutputArg("rstdOut", {2, 1, 1})};
  op.rules = {NoNulls("x gamma yOut rstdOut"),
              RmsListed("x"),
              SameDtype("x", "yOut"),
              GammaDtype("gamma", "x"),
              DtypeIn("rstdOut", {{ACL_FLOAT}}),
              RankTiling("x", 1, 8),
              RankTiling("gamma", 0, 8),
              GammaTail("gamma", "x"),
              OneShapeTiling("x", "yOut"),
              Refuses(561002, "epsilon", [](PlanCall& call) { return call["epsilon"].real < 0; }),
              RstdLeads("rstdOut", "gamma", "x"),
              DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"x", "yOut"}, "gamma", "rstdOut", 1);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[0];
    const int64_t n = NumElements(call["gamma"].shape);
    std::vector<double> out(x.elements.size());
    std::vector<double> numbers;
    for (const auto& row : RowsOf(x.shape, LastAxesOf(x.shape, call["gamma"].shape.size()))) {
      const double mean =
          SumOf(row, [&](int64_t i) { return ValueAt(x, i) * ValueAt(x, i); }) / static_cast<double>(n);
      numbers.push_back(1 / std::sqrt(mean + static_cast<double>(static_cast<float>(call["epsilon"].real))));
      for (const int64_t i : row)
        out[static_cast<size_t>(i)] = ValueAt(x, i) * numbers.back() * ValueAt(tensors[1], i % n);
    }
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, out), AsOutcome(ACL_FLOAT, numbers)};
  };
  return op;
}

OperatorSpec RmsNormGradient() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnRmsNormGrad);
  op.valid = {TensorArg("dy", {2, 3, 4}), TensorArg("x", {2, 3, 4}),     TensorArg("rstd", {2}),
              TensorArg("gamma", {3, 4}), OutputArg("dxOut", {2, 3, 4}), OutputArg("dgammaOut", {3, 4})};
  op.rules = {NoNulls("dy x rstd gamma dxOut dgammaOut"),
              RmsListed("dy"),
              SameDtype("dy", "x"),
              SameDtype("dy", "dxOut"),
              GammaDtype("gamma", "x"),
              DtypeIn("rstd dgammaOut", {{ACL_FLOAT}}),
              RankTiling("dy", 0, 8),
              RankTiling("x", 2, 8),
              RankTiling("rstd", 0, 8),
              RankTiling("gamma", 0, 8),
              OneShapeTiling("dy", "x"),
              OneShapeTiling("x", "dxOut"),
              GammaTail("gamma", "x"),
              OneShapeTiling("gamma", "dgammaOut"),
              RstdLeads("rstd", "gamma", "x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"dy", "x", "dxOut"}, "gamma", "rstd", 2);
    call["dgammaOut"].shape = call["gamma"].shape;
  };
  op.fill = FillRows;
  op.tolerance = 1e-4;
  op.is_inexact = true;
  op.takes_workspace = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x = tensors[1];
    const int64_t n = NumElements(call["gamma"].shape);
    std::vector<double> out(x.elements.size());
    std::vector<double> of_gamma(static_cast<size_t>(n));
    int64_t number = 0;
    const auto rows = NumElements(x.shape) == 0
                          ? std::vector<std::vector<int64_t>>{}
                          : RowsOf(x.shape, LastAxesOf(x.shape, call["gamma"].shape.size()));
    for (const auto& row : rows) {
      const double rstd = ValueAt(tensors[2], number++);
      const auto h = [&](int64_t i) { return ValueAt(x, i) * rstd; };
      const auto g = [&](int64_t i) { return ValueAt(tensors[0], i) * ValueAt(tensors[3], i % n); };
      const double mean = SumOf(row, [&](int64_t i) { return g(i) * h(i); }) / static_cast<double>(n);
      for (const int64_t i : row) {
        out[static_cast<size_t>(i)] = rstd * (g(i) - h(i) * mean);
        of_gamma[static_cast<size_t>(i % n)] += ValueAt(tensors[0], i) * h(i);
      }
    }
    return std::vector<Outcome>{AsOutcome(call["dxOut"].dtype, out), AsOutcome(ACL_FLOAT, of_gamma)};
  };
  return op;
}

// Dims of 1 in front of gamma's own, which the shape has not.
Shape OwnDims(const Shape& gamma, const Shape& x) {
  Shape own = gamma;
  while (own.size() > 1 && own[0] == 1 && (own.size() > x.size() || x[x.size() - own.size()] != 1))
    own.erase(own.begin());
  return own;
}

OperatorSpec AddRmsNormOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAddRmsNorm);
  op.valid = {TensorArg("x1", {2, 3, 4}),  TensorArg("x2", {2, 3, 4}),   TensorArg("gamma", {4}),
              RealArg("epsilon", 1e-6),    OutputArg("yOut", {2, 3, 4}), OutputArg("rstdOut", {2, 3, 1}),
              OutputArg("xOut", {2, 3, 4})};
  const auto has_rstd = [](PlanCall& call) { return !call["rstdOut"].null; };
  op.rules = {
      NoNulls("x1 x2 gamma yOut"),
      Refuses(161001, "xOut", [=](PlanCall& call) { return has_rstd(call) && call["xOut"].null; }),
      Refuses(161002, "x1",
              [=](PlanCall& call) {
                return !RmsHas(call, call["x1"].dtype) || (!has_rstd(call) && call["x1"].dtype == ACL_FLOAT);
              }),
      SameDtype("x1", "x2"),
      SameDtype("x1", "gamma"),
      SameDtype("x1", "yOut"),
      Given("xOut", SameDtype("x1", "xOut")),
      Given("rstdOut", DtypeIn("rstdOut", {{ACL_FLOAT}})),
      Ranks("x1 x2 gamma yOut", 0, 8),
      Given("xOut", Ranks("xOut", 0, 8)),
      Ranks("x1 x2 gamma yOut", 1, 8),
      Given("xOut", Ranks("xOut", 1, 8)),
      SameShape("x1", "x2"),
      SameShape("x1", "yOut"),
      Given("xOut", SameShape("x1", "xOut")),
      Refuses(161002, "gamma",
              [=](PlanCall& call) { return !has_rstd(call) && call["gamma"].shape.size() > 2; }),
      DoneIfEmpty("x1 gamma"),
      Refuses(561002, "gamma",
              [](PlanCall& call) {
                return !FitsTail(call["x1"].shape, OwnDims(call["gamma"].shape, call["x1"].shape));
              }),
      Given("rstdOut", Refuses(561002, "rstdOut", [](PlanCall& call) {
              const Shape& x = call["x1"].shape;
              return call["rstdOut"].shape != LeadingAndOnes(x, OwnDims(call["gamma"].shape, x).size());
            }))};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"x1", "x2", "yOut", "xOut"}, "gamma", "rstdOut", 1);
    call["gamma"].dtype = call["x1"].dtype;
    call["rstdOut"].shape = LeadingAndOnes(call["x1"].shape, call["gamma"].shape.size());
    call["rstdOut"].null = random.Below(3) == 0;
    call["xOut"].null = call["rstdOut"].null && random.Below(2) == 0;
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const TensorValues& x1 = tensors[0];
    const size_t last = OwnDims(call["gamma"].shape, x1.shape).size();
    const int64_t n = NumElements(call["gamma"].shape);
    std::vector<double> out(x1.elements.size());
    std::vector<double> sums(x1.elements.size());
    std::vector<double> numbers;
    for (const auto& row : RowsOf(x1.shape, LastAxesOf(x1.shape, last))) {
      const auto x = [&](int64_t i) { return ValueAt(x1, i) + ValueAt(tensors[1], i); };
      const double mean = SumOf(row, [&](int64_t i) { return x(i) * x(i); }) / static_cast<double>(n);
      numbers.push_back(1 / std::sqrt(mean + static_cast<double>(static_cast<float>(call["epsilon"].real))));
      for (const int64_t i : row) {
        sums[static_cast<size_t>(i)] = x(i);
        out[static_cast<size_t>(i)] = x(i) * numbers.back() * ValueAt(tensors[2], i % n);
      }
    }
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, out), AsOutcome(ACL_FLOAT, numbers),
                                AsOutcome(call["xOut"].dtype, sums)};
  };
  return op;
}

// ---- layer norm of a sum ----

DtypeNumber SumDtype(const PlanCall& call) {
  return call["x1"].dtype == call["x2"].dtype ? call["x1"].dtype : DtypeNumber{ACL_FLOAT};
}
Rule HasSumDtype(const std::string& name) {
  return Refuses(161002, name, [=](PlanCall& call) { return call[name].dtype != SumDtype(call); });
}
Rule WithSum(const Rule& rule) {
  return [=](PlanCall& call) { return call["additionalOutput"].integer == 0 ? std::nullopt : rule(call); };
}

OperatorSpec AddLayerNormOperator() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnAddLayerNorm);
  op.valid = {TensorArg("x1", {2, 3, 4}),        TensorArg("x2", {2, 3, 4}),
              TensorArg("gamma", {4}),           TensorArg("beta", {4}),
              TensorArg("biasOptional", {4}),    RealArg("epsilon", 1e-5),
              IntegerArg("additionalOutput", 1), OutputArg("yOut", {2, 3, 4}),
              OutputArg("meanOut", {2, 3, 1}),   OutputArg("rstdOut", {2, 3, 1}),
              OutputArg("xOut", {2, 3, 4})};
  op.rules = {NoNulls("x1 x2 gamma beta yOut meanOut rstdOut xOut"),
              RmsListed("x1"),
              RmsListed("x2"),
              Refuses(161002, "x1 x2",
                      [](PlanCall& call) {
                        const bool has_float = call["x1"].dtype == ACL_FLOAT || call["x2"].dtype == ACL_FLOAT;
                        return call["x1"].dtype != call["x2"].dtype &&
                               (call.product == Product::k310P || !has_float);
                      }),
              Refuses(161002, "gamma",
                      [](PlanCall& call) {
                        return call["gamma"].dtype != SumDtype(call) &&
                               (call.product == Product::k310P || call["gamma"].dtype != ACL_FLOAT);
                      }),
              SameDtype("gamma", "beta"),
              Given("biasOptional", HasSumDtype("biasOptional")),
              HasSumDtype("yOut"),
              DtypeIn("meanOut rstdOut", {{ACL_FLOAT}}),
              WithSum(HasSumDtype("xOut")),
              RankTiling("x1", 1, 8),
              OneShapeTiling("x1", "x2"),
              OneShapeTiling("x1", "yOut"),
              WithSum(OneShapeTiling("x1", "xOut")),
              Refuses(561002, "x1", [](PlanCall& call) { return NumElements(call["x1"].shape) == 0; }),
              GammaTail("gamma", "x1"),
              OneShapeTiling("gamma", "beta"),
              Given("biasOptional", Refuses(561002, "biasOptional",
                                            [](PlanCall& call) {
                                              const Shape& bias = call["biasOptional"].shape;
                                              return bias != call["gamma"].shape && bias != call["x1"].shape;
                                            })),
              RstdLeads("meanOut", "gamma", "x1"),
              RstdLeads("rstdOut", "gamma", "x1")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    DrawRms(call, random, {"x1", "x2", "yOut", "xOut", "biasOptional"}, "gamma", "rstdOut", 1);
    if (random.Below(2) == 0) call["biasOptional"].shape = call["gamma"].shape;
    call["biasOptional"].null = random.Below(3) == 0;
    if (random.Below(3) == 0) {
      call[random.Below(2) == 0 ? "x1" : "x2"].dtype = ACL_FLOAT;
      for (const char* name : {"yOut", "xOut", "biasOptional"}) call[name].dtype = SumDtype(call);
      if (SumDtype(call) == ACL_FLOAT) call["gamma"].dtype = ACL_FLOAT;
    }
    call["beta"].shape = call["gamma"].shape;
    call["beta"].dtype = call["gamma"].dtype;
    call["meanOut"].shape = LeadingAndOnes(call["x1"].shape, call["gamma"].shape.size());
    call["additionalOutput"].integer = random.Between(0, 1);
  };
  op.fill = FillRows;
  op.tolerance = 2e-5;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& shape = call["x1"].shape;
    const int64_t n = NumElements(call["gamma"].shape);
    const size_t elements = tensors[0].elements.size();
    std::vector<double> sums;
    for (int64_t i = 0; i < static_cast<int64_t>(elements); ++i) {
      float sum = static_cast<float>(ValueAt(tensors[0], i)) + static_cast<float>(ValueAt(tensors[1], i));
      if (!call["biasOptional"].null)
        sum += static_cast<float>(ValueAt(tensors[4], call["biasOptional"].shape == shape ? i : i % n));
      sums.push_back(static_cast<double>(sum));
    }
    std::vector<double> out(elements);
    std::vector<double> mean;
    std::vector<double> rstd;
    for (const auto& row : RowsOf(shape, LastAxesOf(shape, call["gamma"].shape.size()))) {
      const auto at = [&](int64_t i) { return sums[static_cast<size_t>(i)]; };
      mean.push_back(SumOf(row, at) / static_cast<double>(n));
      const double variance =
          SumOf(row, [&](int64_t i) { return std::pow(at(i) - mean.back(), 2); }) / static_cast<double>(n);
      rstd.push_back(1 / std::sqrt(variance + static_cast<double>(static_cast<float>(call["epsilon"].real))));
      for (const int64_t i : row) {
        out[static_cast<size_t>(i)] =
            (at(i) - mean.back()) * rstd.back() * ValueAt(tensors[2], i % n) + ValueAt(tensors[3], i % n);
      }
    }
    const bool has_sum = call["additionalOutput"].integer != 0;
    return std::vector<Outcome>{AsOutcome(call["yOut"].dtype, out), AsOutcome(ACL_FLOAT, mean),
                                AsOutcome(ACL_FLOAT, rstd),
                                has_sum ? AsOutcome(call["xOut"].dtype, sums) : Outcome(elements)};
  };
  return op;
}

// ---- slices scaled to a norm ----

double NormOf(const TensorValues& self, const std::vector<int64_t>& row, double p) {
  const auto magnitude = [&](int64_t i) { return std::fabs(ValueAt(self, i)); };
  if (p == 0) return SumOf(row, [&](int64_t i) { return magnitude(i) == 0 ? 0 : 1; });
  if (!std::isinf(p))
    return std::pow(SumOf(row, [&](int64_t i) { return std::pow(magnitude(i), p); }), 1 / p);
  double most = 0;
  for (const int64_t i : row) most = std::isnan(most) || magnitude(i) <= most ? most : magnitude(i);
  return most;
}

OperatorSpec RenormOperator(const CFunction& function, bool in_place) {
  const std::string self = in_place ? "selfRef" : "self";
  const std::string out = in_place ? "selfRef" : "out";
  OperatorSpec op;
  op.function = function;
  op.valid = {in_place ? OutputArg(self, {2, 3}) : TensorArg(self, {2, 3}), ScalarArg("p", {2, 0}),
              IntegerArg("dim", 0), ScalarArg("maxNorm", {1.5L, 0})};
  if (!in_place) op.valid.push_back(OutputArg(out, {2, 3}));
  op.rules = {
      NoNulls(self + " p maxNorm " + out),
      DtypeIn(self, kFloats),
      SameDtype(self, out),
      Refuses(161002, self + " " + out,
              [=](PlanCall& call) { return call[self].format != call[out].format; }),
      Ranks(self, 2, 8),
      SameShape(self, out),
      Refuses(161002, "dim", [=](PlanCall& call) { return !IsDimOf(call["dim"].integer, call[self].shape); }),
      DoneIfEmpty(self)};
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 2, 8, random.Below(4) == 0 ? 3 : 6);
    if (shape.size() == 2 && random.Below(3) == 0) shape[random.Below(2)] = random.Between(1, 9000);
    call[self].shape = call[out].shape = shape;
    call[self].dtype = call[out].dtype = DrawDtype(random, kRowDtypes);
    call["dim"].integer = random.Between(-std::ssize(shape), std::ssize(shape) - 1);
    const long double powers[] = {0, 1, 2, 3, 0.5L, 1.5L, HUGE_VALL};
    call["p"].number = {powers[random.Below(7)], 0};
    const long double norms[] = {0, 0.5L, 2, 10, 100, HUGE_VALL};
    call["maxNorm"].number = {norms[random.Below(6)], 0};
  };
  op.fill = FillRows;
  op.tolerance = 5e-6;
  op.is_inexact = true;
  op.updates = in_place;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    std::vector<double> result(tensors[0].elements.size());
    std::vector<bool> axes(call[self].shape.size(), true);
    axes[Wrapped(call["dim"].integer, call[self].shape)] = false;
    const auto most = static_cast<double>(call["maxNorm"].number.real);
    for (const auto& row : RowsOf(call[self].shape, axes)) {
      const double norm = NormOf(tensors[0], row, static_cast<double>(call["p"].number.real));
      const double factor = norm > most ? most / (norm + 1e-7) : 1;
      for (const int64_t i : row) result[static_cast<size_t>(i)] = ValueAt(tensors[0], i) * factor;
    }
    return std::vector<Outcome>{AsOutcome(call[self].dtype, result)};
  };
  return op;
}

}  // namespace

std::vector<OperatorSpec> norms::RmsNorms() {
  return {RmsNormOperator(),
          RmsNormGradient(),
          AddRmsNormOperator(),
          AddLayerNormOperator(),
          RenormOperator(PORTACL_C_FUNCTION(aclnnRenorm), false),
          RenormOperator(PORTACL_C_FUNCTION(aclnnInplaceRenorm), true)};
}

}  // namespace portacl::testing
