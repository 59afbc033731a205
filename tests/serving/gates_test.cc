// Gates whose halves are one tensor, within limits, and heads of one projection.
// SPDX-License-Identifier: Apache-2.0
#include "../norm/row_calls.h"

#include "aclnnop/families/activations.h"
#include "aclnnop/families/attention.h"
#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

const Listed kF3 = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};

double Single(double x) { return static_cast<double>(static_cast<float>(x)); }

OperatorSpec GeluTimes() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnGeluMul);
  op.valid = {TensorArg("input", {2, 3, 6}), TextArg("approximateOptional", "none"),
              OutputArg("out", {2, 3, 3})};
  op.rules = {
      NoNulls("input out"),
      DtypeIn("input", kF3),
      SameDtype("input", "out"),
      Tiling("approximateOptional",
             [](PlanCall& call) {
               const std::string& text = call["approximateOptional"].text;
               return !call["approximateOptional"].null && text != "none" && text != "tanh";
             }),
      Tiling("input",
             [](PlanCall& call) { return call["input"].shape.empty() || call["input"].shape.size() > 8; }),
      Tiling("input",
             [](PlanCall& call) {
               const int64_t length = call["input"].shape.back();
               return length % 2 != 0 || length > 1024;
             }),
      Tiling("out",
             [](PlanCall& call) {
               Shape half = call["input"].shape;
               half.back() /= 2;
               return call["out"].shape != half;
             }),
      DoneIfEmpty("input")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 8, 4);
    shape.back() = 2 * random.Between(1, random.Below(4) == 0 ? 512 : 20);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"input", "out"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    call["out"].shape.back() /= 2;
    call["approximateOptional"].text = random.Below(2) == 0 ? "none" : "tanh";
  };
  op.fill = FillRows;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t half = call["out"].shape.back();
    std::vector<double> out(static_cast<size_t>(NumElements(call["out"].shape)));
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      const int64_t at = i / half * 2 * half + i % half;
      const double a = ValueAt(tensors[0], at);
      const double gelu =
          call["approximateOptional"].text == "none"
              ? a * std::erfc(-a / std::sqrt(2.0)) / 2
              : a / 2 * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (a + 0.044715 * a * a * a)));
      out[static_cast<size_t>(i)] = gelu * ValueAt(tensors[0], at + half);
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

OperatorSpec FatReluTimes() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnFatreluMul);
  op.valid = {TensorArg("input", {2, 3, 6}), TensorArg("threshold", {1}), OutputArg("out", {2, 3, 3})};
  op.rules = {
      NoNulls("input threshold out"),
      DtypeIn("input", kF3),
      SameDtype("input", "threshold"),
      SameDtype("input", "out"),
      Tiling("input",
             [](PlanCall& call) { return call["input"].shape.empty() || call["input"].shape.size() > 8; }),
      Tiling("input",
             [](PlanCall& call) {
               const int64_t length = call["input"].shape.back();
               return length % 2 != 0 || length > 1024;
             }),
      Tiling("threshold", [](PlanCall& call) { return NumElements(call["threshold"].shape) != 1; }),
      Tiling("out",
             [](PlanCall& call) {
               Shape half = call["input"].shape;
               half.back() /= 2;
               return call["out"].shape != half;
             }),
      DoneIfEmpty("input")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 8, 4);
    shape.back() = 2 * random.Between(1, random.Below(4) == 0 ? 512 : 20);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"input", "out"}) call[name].shape = shape;
    for (const char* name : {"input", "threshold", "out"}) call[name].dtype = dtype;
    call["out"].shape.back() /= 2;
    call["threshold"].shape = Shape(static_cast<size_t>(random.Between(0, 2)), 1);
  };
  op.fill = FillRows;
  op.is_inexact = true;  // NaN
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const int64_t half = call["out"].shape.back();
    std::vector<double> out(static_cast<size_t>(NumElements(call["out"].shape)));
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      const int64_t at = i / half * 2 * half + i % half;
      const double a = ValueAt(tensors[0], at);
      out[static_cast<size_t>(i)] =
          Single((a > ValueAt(tensors[1], 0) ? a : 0) * ValueAt(tensors[0], at + half));
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// x has two halves along `dim`, and out the shape of one.
Rule HasHalves() {
  return [](PlanCall& tried) -> std::optional<Verdict> {
    const Rules rules = {
        Tiling("x", [](PlanCall& call) { return call["x"].shape.empty() || call["x"].shape.size() > 8; }),
        Tiling("dim", [](PlanCall& call) { return !IsDimOf(call["dim"].integer, call["x"].shape); }),
        Tiling("x",
               [](PlanCall& call) {
                 return call["x"].shape[Wrapped(call["dim"].integer, call["x"].shape)] % 2 != 0;
               }),
        Tiling("out", [](PlanCall& call) {
          Shape half = call["x"].shape;
          half[Wrapped(call["dim"].integer, half)] /= 2;
          return call["out"].shape != half;
        })};
    for (const Rule& rule : rules) {
      if (std::optional<Verdict> verdict = rule(tried)) return verdict;
    }
    return std::nullopt;
  };
}

OperatorSpec Clipped(const CFunction& function, bool has_mode) {
  OperatorSpec op;
  op.function = function;
  op.valid = {TensorArg("x", {2, 6, 3}),   TensorArg("groupIndexOptional", {2}, ACL_INT64),
              IntegerArg("dim", 1),        RealArg("alpha", 1.702),
              RealArg("limit", 2),         RealArg("bias", 1),
              IntegerArg("interleaved", 0)};
  op.valid[1].null = true;
  if (has_mode) op.valid.push_back(IntegerArg("clampMode", 0));
  op.valid.push_back(OutputArg("out", {2, 3, 3}));
  if (has_mode) op.numbers_on = Product::k950;
  op.rules = {NoNulls("x out"),
              has_mode ? Refuses(161002, "x",
                                 [](PlanCall& call) {
                                   const DtypeNumber dtype = call["x"].dtype;
                                   return call.product != Product::k950 ||
                                          (dtype != ACL_FLOAT && dtype != ACL_FLOAT16 && dtype != ACL_BF16);
                                 })
                       : DtypeIn("x", kF3),
              SameDtype("x", "out"), HasHalves(),
              Tiling("limit", [](PlanCall& call) { return !(call["limit"].real > 0); })};
  if (has_mode) {
    op.rules.push_back(Tiling("clampMode", [](PlanCall& call) {
      return call["clampMode"].integer < 0 || call["clampMode"].integer > 1;
    }));
  }
  op.rules.push_back(
      Refuses(561103, "groupIndexOptional", [](PlanCall& call) { return !call["groupIndexOptional"].null; }));
  op.rules.push_back(DoneIfEmpty("x"));
  op.draw = [=](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 5, 4);
    const auto dim = static_cast<size_t>(random.Below(static_cast<uint32_t>(shape.size())));
    shape[dim] = 2 * random.Between(1, random.Below(3) == 0 ? 60 : 3);
    // Pairs that follow each other may lie in any strides along the last dim alone.
    call["interleaved"].integer = dim + 1 == shape.size() && random.Below(2) == 0 ? 1 : 0;
    call["dim"].integer = static_cast<int64_t>(dim) - (random.Below(2) == 0 ? std::ssize(shape) : 0);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"x", "out"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    call["out"].shape[dim] /= 2;
    call["alpha"].real = random.Below(2) == 0 ? 1.702 : -0.4;
    call["bias"].real = random.Below(2) == 0 ? 1 : -0.25;
    if (has_mode) call["clampMode"].integer = random.Between(0, 1);
  };
  op.fill = FillRows;
  op.tolerance = 3e-6;
  op.is_inexact = true;
  op.oracle = [=](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const size_t dim = Wrapped(call["dim"].integer, call["x"].shape);
    const double limit = Single(call["limit"].real);
    const auto clamp = [&](double x) { return std::isnan(x) ? x : std::min(std::max(x, -limit), limit); };
    const auto at_most = [&](double x) { return std::isnan(x) ? x : std::min(x, limit); };
    std::vector<double> out(static_cast<size_t>(NumElements(call["out"].shape)));
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      Index first = IndexAt(call["out"].shape, i);
      Index second = first;
      if (call["interleaved"].integer != 0) {
        first[dim] *= 2;
        second[dim] = first[dim] + 1;
      } else {
        second[dim] += call["out"].shape[dim];
      }
      const double a = ValueAt(tensors[0], PositionOf(call["x"].shape, first));
      const double b = clamp(ValueAt(tensors[0], PositionOf(call["x"].shape, second)));
      if (has_mode && call["clampMode"].integer == 1) {
        out[static_cast<size_t>(i)] = at_most(a / (1 + std::exp(-a))) * b;
      } else {
        const double kept = at_most(a);
        out[static_cast<size_t>(i)] =
            kept / (1 + std::exp(-Single(call["alpha"].real) * kept)) * (b + Single(call["bias"].real));
      }
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

// beta tanh(g / beta) sigmoid(g) u, where u may be bounded, too.
OperatorSpec Situ() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnSituGlu);
  op.valid = {TensorArg("x", {2, 6, 3}),  IntegerArg("dim", 1),          RealArg("beta", 4),
              RealArg("linearBeta", 0.5), IntegerArg("activateLeft", 0), OutputArg("out", {2, 3, 3})};
  op.rules = {NoNulls("x out"), DtypeIn("x", kF3), SameDtype("x", "out"), HasHalves(), DoneIfEmpty("x")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    Shape shape = DrawShape(random, 1, 5, 4);
    const auto dim = static_cast<size_t>(random.Below(static_cast<uint32_t>(shape.size())));
    shape[dim] = 2 * random.Between(1, random.Below(3) == 0 ? 60 : 3);
    call["dim"].integer = static_cast<int64_t>(dim) - (random.Below(2) == 0 ? std::ssize(shape) : 0);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"x", "out"}) {
      call[name].shape = shape;
      call[name].dtype = dtype;
    }
    call["out"].shape[dim] /= 2;
    call["beta"].real = random.Below(2) == 0 ? 4 : 0.75;
    call["linearBeta"].real = random.Below(3) == 0 ? 2.5 : random.Below(2) == 0 ? 0 : -1;
    call["activateLeft"].integer = random.Below(2);
  };
  op.fill = FillRows;
  op.tolerance = 3e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const size_t dim = Wrapped(call["dim"].integer, call["x"].shape);
    const double beta = call["beta"].real;
    const double bound = call["linearBeta"].real;
    std::vector<double> out(static_cast<size_t>(NumElements(call["out"].shape)));
    for (int64_t i = 0; i < std::ssize(out); ++i) {
      const Index left = IndexAt(call["out"].shape, i);
      Index right = left;
      right[dim] += call["out"].shape[dim];
      double gate = ValueAt(tensors[0], PositionOf(call["x"].shape, left));
      double other = ValueAt(tensors[0], PositionOf(call["x"].shape, right));
      if (call["activateLeft"].integer == 0) std::swap(gate, other);
      if (bound > 0) other = bound * std::tanh(other / bound);
      out[static_cast<size_t>(i)] = beta * std::tanh(gate / beta) / (1 + std::exp(-gate)) * other;
    }
    return std::vector<Outcome>{AsOutcome(call["out"].dtype, out)};
  };
  return op;
}

OperatorSpec Heads() {
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnTransformBiasRescaleQkv);
  op.valid = {TensorArg("qkv", {2, 3, 24}),    TensorArg("qkvBias", {24}),
              IntegerArg("numHeads", 2),       OutputArg("qOut", {2, 2, 3, 4}),
              OutputArg("kOut", {2, 2, 3, 4}), OutputArg("vOut", {2, 2, 3, 4})};
  const auto heads = [](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) {
      const Shape& qkv = call["qkv"].shape;
      const int64_t count = call["numHeads"].integer;
      return call[name].shape != Shape{qkv[0], count, qkv[1], qkv[2] / 3 / count};
    });
  };
  op.rules = {NoNulls("qkv qkvBias qOut kOut vOut"),
              DtypeIn("qkv", kF3),
              SameDtype("qkv", "qkvBias"),
              SameDtype("qkv", "qOut"),
              SameDtype("qkv", "kOut"),
              SameDtype("qkv", "vOut"),
              Ranks("qkv", 3, 3),
              Refuses(161002, "numHeads",
                      [](PlanCall& call) {
                        const int64_t count = call["numHeads"].integer;
                        return count <= 0 || call["qkv"].shape[2] % 3 != 0 ||
                               call["qkv"].shape[2] / 3 % count != 0;
                      }),
              Refuses(161002, "qkvBias",
                      [](PlanCall& call) { return call["qkvBias"].shape != Shape{call["qkv"].shape[2]}; }),
              heads("qOut"),
              heads("kOut"),
              heads("vOut"),
              DoneIfEmpty("qkv")};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    const int64_t batches = random.Between(1, 3), tokens = random.Between(1, 5), count = random.Between(1, 4);
    const int64_t length = random.Between(1, random.Below(3) == 0 ? 130 : 9);
    const DtypeNumber dtype = DrawDtype(random, kRowDtypes);
    for (const char* name : {"qkv", "qkvBias", "qOut", "kOut", "vOut"}) {
      call[name].shape = {batches, count, tokens, length};
      call[name].dtype = dtype;
    }
    call["qkv"].shape = {batches, tokens, 3 * count * length};
    call["qkvBias"].shape = {3 * count * length};
    call["numHeads"].integer = count;
  };
  op.fill = FillRows;
  op.tolerance = 1e-6;
  op.is_inexact = true;
  op.oracle = [](const PlanCall& call, const std::vector<TensorValues>& tensors) {
    const Shape& out = call["qOut"].shape;
    const int64_t part = out[1] * out[3];
    std::vector<Outcome> all;
    for (int64_t which = 0; which < 3; ++which) {
      std::vector<double> values(static_cast<size_t>(NumElements(out)));
      for (int64_t i = 0; i < std::ssize(values); ++i) {
        const Index index = IndexAt(out, i);
        const int64_t column = which * part + index[1] * out[3] + index[3];
        const double sum = ValueAt(tensors[0], (index[0] * out[2] + index[2]) * 3 * part + column) +
                           ValueAt(tensors[1], column);
        values[static_cast<size_t>(i)] = which == 0 ? sum / std::sqrt(static_cast<double>(out[3])) : sum;
      }
      all.push_back(AsOutcome(call["qOut"].dtype, values));
    }
    return all;
  };
  return op;
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> all = {GeluTimes(),
                                                FatReluTimes(),
                                                Clipped(PORTACL_C_FUNCTION(aclnnClippedSwiglu), false),
                                                Clipped(PORTACL_C_FUNCTION(aclnnClippedSwigluV2), true),
                                                Situ(),
                                                Heads()};
  return all;
}

PORTACL_OPERATOR_TESTS(ServingGates, Operators());

}  // namespace
}  // namespace portacl::testing
