// Activations and their gradients as data: what phase 1 answers, what each element is.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "aclnnop/families/activations.h"
#include "support/map_operator.h"
#include "support/rules.h"
#include "support/scalar_dtypes.h"

namespace portacl::testing {
namespace {

using Real = long double;

constexpr Real kPi = 3.14159265358979323846264338327950288L;
constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

// ---- what phase 1 answers ----

Rule DtypeIsThatOf(const std::string& name) {
  return Sets([=](PlanCall& call) { call.promoted = call[name].dtype; });
}

// The end of a function of one tensor.
Rules SameOut(const std::string& self = "self", const std::string& out = "out") {
  return {SameDtype(self, out), Ranks(self), SameShape(self, out), DoneIfEmpty(self), DtypeIsThatOf(self)};
}
Rules CastOut() {
  return {CastsTo("self", "out"), Ranks("self"), SameShape("self", "out"), DoneIfEmpty("self"),
          DtypeIsThatOf("self")};
}
Rules AnyRank(const std::string& self, const std::string& out) {
  return {SameShape(self, out), DoneIfEmpty(self), DtypeIsThatOf(self)};
}

// A scalar that casts to FLOAT; it may be missing.
Rule CastsToFloat(const std::string& names) {
  Rules rules;
  for (const std::string& name : Words(names))
    rules.push_back(Refuses(161002, name, [=](PlanCall& call) {
      return !call[name].null && !CanCastDtype(call[name].dtype, ACL_FLOAT);
    }));
  return [=](PlanCall& call) -> std::optional<Verdict> {
    for (const Rule& rule : rules) {
      if (const auto verdict = rule(call)) return verdict;
    }
    return std::nullopt;
  };
}

float FloatOf(PlanCall& call, const std::string& scalar) {
  return static_cast<float>(ScalarIn(call[scalar], ACL_FLOAT).real);
}

Rules BroadcastTo(const std::string& names, const std::string& out) {
  return {Ranks(names), Broadcasts(names), ResultIs(out), DoneIfEmpty(names)};
}

// BF16 on Atlas 200I/500 A2 too.
Listed On310BToo() {
  Listed list = kFloats;
  list.on_310b = {ACL_BF16};
  return list;
}

// Gradients of three tensors of one dtype and one shape.
Rules ThreeAlike(const Listed& list, const std::string& out = "gradInput") {
  return {NoNulls("gradOutput self " + out),
          DtypeIn("gradOutput", list),
          SameDtype("gradOutput", "self"),
          SameDtype("self", out),
          Ranks("gradOutput self"),
          SameShape("gradOutput", "self"),
          SameShape("self", out)};
}

// ---- what elements are ----

Real Logistic(Real x) { return 1 / (1 + std::exp(-x)); }
Real SwishSlope(Real x, Real beta) {
  const Real rest = Logistic(-beta * x);
  return Logistic(beta * x) * (1 + beta * x * rest);
}
Real Normal(Real x) { return std::erfc(-x / std::sqrt(2.0L)) / 2; }
Real GeluByErf(Real x) { return x * Normal(x); }
Real GeluArgument(Real x) { return std::sqrt(8 / kPi) * (x + 0.044715L * x * x * x); }
Real GeluByTanh(Real x) { return x * Logistic(GeluArgument(x)); }
Real GeluSlopeByErf(Real x) { return Normal(x) + x * std::exp(-x * x / 2) / std::sqrt(2 * kPi); }
Real GeluSlopeByTanh(Real x) {
  const Real u = GeluArgument(x);
  const Real more = Logistic(u) * Logistic(-u) * x * std::sqrt(8 / kPi) * (1 + 3 * 0.044715L * x * x);
  return Logistic(u) + (std::isnan(more) && !std::isnan(x) ? 0 : more);
}

Oracle Near(std::function<Real(const Real*)> function, double ulp32 = 1, double ulp64 = 1.5) {
  Oracle oracle;
  oracle.real = std::move(function);
  oracle.ulp32 = ulp32;
  oracle.ulp64 = ulp64;
  return oracle;
}
Oracle Near(Real (*function)(Real), double ulp32 = 1, double ulp64 = 1.5) {
  return Near([=](const Real* x) { return function(x[0]); }, ulp32, ulp64);
}
// A gradient: gradOutput times a slope, which is a sum and has a zero between -3 and 0: `slack` times gradOutput is right beside it.
// Where the slope underflows in float32, 0 and infinity times it are left open.
Oracle Gradient(std::function<Real(const Real*)> slope, double ulp32 = 1, Real slack = 0x1p-38L) {
  Oracle oracle = Near([=](const Real* x) { return x[0] * slope(x); }, ulp32);
  oracle.slack = [=](const Real* x) {
    return std::isfinite(x[0]) && x[1] > -3 && x[1] < 0 ? std::fabs(x[0]) * slack : 0;
  };
  oracle.any_real = [=](const Real* x) {
    const Real by = slope(x);
    return (x[0] == 0 || std::isinf(x[0])) && std::fabs(by) < 0x1p-120L;
  };
  return oracle;
}

// The result is exact in floats, or in integers too.
template <class F>
Oracle Exact(F formula) {
  Oracle oracle;
  oracle.single = formula;
  oracle.twofold = formula;
  return oracle;
}

class Table {
 public:
  MapOperator& Add(const CFunction& function, const std::string& names, const Rules& rules,
                   const Oracle& oracle) {
    operators_.push_back(Describe(function, names, rules, oracle));
    MapOperator& op = operators_.back();
    op.output = op.valid.back().name;
    op.unary_domain = true;
    return op;
  }
  MapOperator& AddInPlace(const CFunction& function, const std::string& names) {
    const MapOperator base = operators_.back();
    operators_.push_back(InPlace(function, base, names));
    return operators_.back();
  }
  std::vector<MapOperator*> Last(size_t count) {
    std::vector<MapOperator*> last;
    for (size_t i = operators_.size() - count; i < operators_.size(); ++i) last.push_back(&operators_[i]);
    return last;
  }
  std::vector<MapOperator> Take() { return std::move(operators_); }

 private:
  std::vector<MapOperator> operators_;
};

#define PORTACL_FUNCTION(name) PORTACL_C_FUNCTION(aclnn##name)

void AddRelus(Table& table) {
  Oracle relu = Exact([](const auto* x) { return std::isnan(x[0]) ? x[0] : x[0] > 0 ? x[0] : 0; });
  relu.integer = [](const Int* x) { return x[0] > 0 ? x[0] : 0; };
  table.Add(PORTACL_FUNCTION(Relu), "self out",
            Rules{NoNulls("self out"),
                  DtypeIn("self", kFloats + DtypeList{ACL_INT8, ACL_UINT8, ACL_INT32, ACL_INT64})} +
                SameOut(),
            relu);
  table.AddInPlace(PORTACL_FUNCTION(InplaceRelu), "selfRef");

  const auto kept = [](auto x, auto threshold) {
    if (std::fabs(threshold) <= 0x1p-23f) threshold = 0;
    return !(x <= threshold);
  };
  Oracle threshold = Exact([=](const auto* x) { return kept(x[1], x[2]) ? x[0] : 0; });
  threshold.integer = [](const Int* x) { return x[1] > x[2] ? x[0] : 0; };
  const Listed integers_too = kFloats + DtypeList{ACL_INT8, ACL_UINT8, ACL_INT32};
  Listed with_int64 = integers_too;
  with_int64.on_950.push_back(ACL_INT64);
  const auto is_zero = [](PlanCall& call) { return std::fabs(FloatOf(call, "threshold")) <= 0x1p-23f; };
  MapOperator& gradient = table.Add(
      PORTACL_FUNCTION(ThresholdBackward), "gradOutput self threshold out",
      Rules{
          NoNulls("threshold out gradOutput self"), When(is_zero, DtypeIn("gradOutput self out", with_int64)),
          When([=](PlanCall& call) { return !is_zero(call); }, DtypeIn("gradOutput self out", integers_too)),
          SameDtype("gradOutput", "self"), SameDtype("self", "out"), DtypeIsThatOf("self")} +
          BroadcastTo("gradOutput self", "out"),
      threshold);
  gradient.values = {{0, 0}, {2, 0}, {-0.75L, 0}, {3.7L, 0}, {0x1p-24L, 0}, {300, 0}, {-1e20L, 0}};
  gradient.casts = {{"threshold", ACL_FLOAT}};

  MapOperator& leaky = table.Add(PORTACL_FUNCTION(LeakyRelu), "self negativeSlope out",
                                 Rules{NoNulls("self negativeSlope out"), DtypeIn("self", kFD)} + CastOut(),
                                 Exact([](const auto* x) { return x[0] > 0 ? x[0] : x[1] * x[0]; }));
  leaky.casts = {{"negativeSlope", ACL_FLOAT}};
  table.AddInPlace(PORTACL_FUNCTION(InplaceLeakyRelu), "selfRef negativeSlope");
  MapOperator& slope = table.Add(
      PORTACL_FUNCTION(LeakyReluBackward), "gradOutput self negativeSlope selfIsResult out",
      Rules{NoNulls("gradOutput self negativeSlope out"), DtypeIn("gradOutput self", kFD),
            DtypeIn("negativeSlope", kFDI),
            Refuses(161002, "negativeSlope",
                    [](PlanCall& call) {
                      return call["selfIsResult"].integer != 0 && FloatOf(call, "negativeSlope") < 0;
                    }),
            Promotes("gradOutput self"), PromotedCastsTo("out")} +
          BroadcastTo("gradOutput self", "out"),
      Exact([](const auto* x) { return x[1] > 0 ? x[0] : x[0] * x[2]; }));
  slope.casts = {{"negativeSlope", ACL_FLOAT}};
  slope.integers = {{0, 0}, {1, 0}};
}

void AddGelus(Table& table) {
  table.Add(PORTACL_FUNCTION(Gelu), "self out",
            Rules{NoNulls("self out"), DtypeIn("self", kFloats), NoPrivateFormat("self out")} + SameOut(),
            Near(GeluByTanh, 2));
  table
      .Add(PORTACL_FUNCTION(GeluV2), "x approximate y",
           Rules{NoNulls("x y"), DtypeIn("x", kFloats), SameDtype("x", "y")} + AnyRank("x", "y"),
           Near([](const Real* x) { return x[1] == 1 ? GeluByTanh(x[0]) : GeluByErf(x[0]); }, 2))
      .integers = {{0, 0}, {1, 0}, {2, 0}};
  table.Add(PORTACL_FUNCTION(GeluBackward), "gradOutput self gradInput",
            Rules{NoNulls("gradOutput self gradInput"), Promotes("gradOutput self"),
                  PromotedIn("gradOutput self", kFloats)} +
                BroadcastTo("gradOutput self", "gradInput"),
            Gradient([](const Real* x) { return GeluSlopeByTanh(x[1]); }, 4));
  table
      .Add(
          PORTACL_FUNCTION(GeluBackwardV2), "gradOutput self approximate gradInput",
          Rules{NoNulls("gradOutput self gradInput approximate"), Promotes("gradOutput self"),
                PromotedIn("gradOutput self", kFloats),
                Refuses(161002, "gradInput",
                        [](PlanCall& call) { return call["gradInput"].dtype != call.promoted; }),
                Broadcasts("gradOutput self"), ResultIs("gradInput"),
                Refuses(161002, "approximate",
                        [](PlanCall& call) {
                          const std::string& text = call["approximate"].text;
                          return text != "none" && text != "tanh";
                        }),
                DoneIfEmpty("gradOutput self")},
          Gradient([](const Real* x) { return x[2] == 1 ? GeluSlopeByTanh(x[1]) : GeluSlopeByErf(x[1]); }, 4))
      .integers = {{0, 0}, {1, 0}};
}

void AddSwishes(Table& table) {
  const auto swish = [](Real x, Real beta) { return x * Logistic(beta * x); };
  const Rules of_floats = {NoNulls("self out"), DtypeIn("self", kFloats), SameDtype("self", "out")};
  table.Add(PORTACL_FUNCTION(Silu), "self out", of_floats + AnyRank("self", "out"),
            Near([=](const Real* x) { return swish(x[0], 1); }, 2));
  MapOperator& with_beta =
      table.Add(PORTACL_FUNCTION(Swish), "self betaOptional out",
                of_floats + Rules{Ranks("self out"), CastsToFloat("betaOptional")} + AnyRank("self", "out"),
                Near([=](const Real* x) { return swish(x[0], x[1]); }));
  with_beta.casts = {{"betaOptional", ACL_FLOAT}};
  const Listed on_new = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
  table.Add(PORTACL_FUNCTION(FastGelu), "self out",
            Rules{NoNulls("self out"), DtypeIn("self", on_new), SameFormat("self", "out")} + SameOut(),
            Near([=](const Real* x) { return swish(x[0], 1.702f); }));

  table.Add(PORTACL_FUNCTION(SiluBackward), "gradOutput self gradInput",
            Rules{NoNulls("gradOutput self gradInput"), DtypeIn("gradOutput self", kFloats),
                  DtypeIn("gradInput", {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16}}), Sets([](PlanCall& call) {
                    const bool differ = call.Is(k950Only) && call["gradOutput"].dtype != call["self"].dtype;
                    call.promoted = differ ? DtypeNumber{ACL_FLOAT} : call["self"].dtype;
                  }),
                  On(kBefore950, SameDtype("gradOutput", "self")),
                  Refuses(161002, "gradInput",
                          [](PlanCall& call) { return call["gradInput"].dtype != call.promoted; }),
                  Ranks("gradOutput self"), On(kBefore950, SameShape("gradOutput", "self")),
                  On(kBefore950, SameShape("self", "gradInput"))} +
                BroadcastTo("gradOutput self", "gradInput"),
            Gradient([](const Real* x) { return SwishSlope(x[1], 1); }, 6, 0x1p-25L));
  MapOperator& slope =
      table.Add(PORTACL_FUNCTION(SwishBackward), "gradOutput self betaOptional gradInput",
                ThreeAlike(kFloats) + Rules{CastsToFloat("betaOptional"), DoneIfEmpty("gradOutput self"),
                                            DtypeIsThatOf("self")},
                Gradient([](const Real* x) { return SwishSlope(x[1], x[2]); }));
  slope.casts = {{"betaOptional", ACL_FLOAT}};
  table.Add(PORTACL_FUNCTION(FastGeluBackward), "gradOutput self gradInput",
            ThreeAlike(on_new) + Rules{SameFormat("gradOutput", "self gradInput"),
                                       DoneIfEmpty("gradOutput self"), DtypeIsThatOf("self")},
            Gradient([](const Real* x) { return SwishSlope(x[1], 1.702f); }));
}

// ---- exponentials ----

Real Expm1(Real x) { return x == 0 ? x : std::expm1(x); }

void SetCasts(MapOperator& op, const std::string& scalars) {
  for (const std::string& name : Words(scalars)) op.casts.emplace_back(name, ACL_FLOAT);
}

void AddElus(Table& table) {
  const auto is_finite = [](Real x) { return std::isfinite(x); };
  MapOperator& elu = table.Add(PORTACL_FUNCTION(Elu), "self alpha scale inputScale out",
                               Rules{NoNulls("self alpha scale inputScale out"),
                                     DtypeIn("self", {{ACL_FLOAT, ACL_FLOAT16, ACL_BF16, ACL_DOUBLE}}),
                                     CastsToFloat("alpha scale inputScale")} +
                                   CastOut(),
                               Near(
                                   [=](const Real* x) {
                                     if (x[0] > 0) return x[2] * x[0];
                                     if (!is_finite(x[1]) || !is_finite(x[3])) return -x[1] * x[2];
                                     // The argument is rounded, to float64.
                                     return x[1] * x[2] * Expm1(static_cast<double>(x[3] * x[0]));
                                   },
                                   1, 3));
  SetCasts(elu, "alpha scale inputScale");
  // 0 times what overflows.
  elu.formula.any_real = [](const Real* x) { return x[1] * x[2] == 0 && x[3] * x[0] > 88; };
  elu.values = {{1, 0}, {1.05L, 0}, {0.5L, 0}, {-0.75L, 0}, {3, 0}, {kInfinity, 0}};
  table.AddInPlace(PORTACL_FUNCTION(InplaceElu), "selfRef alpha scale inputScale");

  MapOperator& slope = table.Add(
      PORTACL_FUNCTION(EluBackward), "gradOutput alpha scale inputScale isResult selfOrResult gradInput",
      Rules{
          NoNulls("gradOutput alpha scale inputScale selfOrResult gradInput"), DtypeIn("gradOutput", kFloats),
          SameDtype("gradOutput", "selfOrResult"), CastsTo("gradOutput", "gradInput"),
          CastsToFloat("alpha scale inputScale"),
          Refuses(161002, "alpha",
                  [](PlanCall& call) { return call["isResult"].integer != 0 && FloatOf(call, "alpha") < 0; }),
          Ranks("gradOutput selfOrResult"), SameShape("gradOutput", "selfOrResult"),
          SameShape("selfOrResult", "gradInput"), DoneIfEmpty("gradOutput"), DtypeIsThatOf("selfOrResult")},
      Near([](const Real* x) {
        const Real alpha = x[1];
        const Real scale = x[2];
        const Real input_scale = x[3];
        if (x[5] > 0) return x[0] * scale;
        if (x[4] != 0) return x[0] * input_scale * (x[5] + alpha * scale);
        return x[0] * input_scale * alpha * scale * std::exp(x[5] * input_scale);
      }));
  SetCasts(slope, "alpha scale inputScale");
  slope.integers = {{0, 0}, {1, 0}};
  slope.values = {{1, 0}, {1.05L, 0}, {0.5L, 0}, {-0.75L, 0}};
  // 0 and infinity times what underflows, 0 times what overflows.
  slope.formula.any_real = [](const Real* x) {
    const Real z = x[5] * x[3];
    if (x[4] != 0 || !(x[5] < 0)) return false;
    return ((x[0] == 0 || std::isinf(x[0])) && z < -600) || (x[0] * x[1] * x[2] == 0 && z > 88);
  };

  MapOperator& celu =
      table.Add(PORTACL_FUNCTION(Celu), "self alpha out",
                Rules{NoNulls("self alpha out"), DtypeIn("self", On310BToo()), CastsToFloat("alpha"),
                      Refuses(161002, "alpha",
                              [](PlanCall& call) {
                                const float alpha = FloatOf(call, "alpha");
                                return alpha == 0 || std::isnan(alpha);
                              })} +
                    CastOut(),
                Near([](const Real* x) { return x[0] > 0 ? x[0] : x[1] * Expm1(x[0] / x[1]); }));
  SetCasts(celu, "alpha");
  table.AddInPlace(PORTACL_FUNCTION(InplaceCelu), "selfRef alpha");
  for (MapOperator* op : table.Last(2)) op->values = {{1, 0}, {0.25L, 0}, {-0.75L, 0}, {3.7L, 0}, {0, 0}};
}

// Integers here are those of which INT8 and INT32 have the same result; activations_test.cc has the others.
void AddSelus(Table& table) {
  const Listed list = kFloats + DtypeList{ACL_INT8, ACL_INT32};
  constexpr Real kScale = 1.0507009873554805L;
  constexpr Real kAlpha = 1.6732632423543772L;
  Oracle selu = Near([=](const Real* x) { return kScale * (x[0] > 0 ? x[0] : kAlpha * Expm1(x[0])); });
  selu.integer = [](const Int* x) {
    const float product = static_cast<float>(x[0]) * 1.0507009873554805f;
    return x[0] < 0 ? Int{-1} : product >= 0x1p31f ? Int{0x7FFFFFFF} : static_cast<Int>(product);
  };
  selu.any_integer = [](const Int* x) { return x[0] > 58 && x[0] < 128; };
  table.Add(PORTACL_FUNCTION(Selu), "self out",
            Rules{NoNulls("self out"), DtypeIn("self out", list)} + AnyRank("self", "out"), selu);
  table.AddInPlace(PORTACL_FUNCTION(InplaceSelu), "selfRef");

  Oracle slope = Near([=](const Real* x) { return x[0] * (x[1] > 0 ? kScale : x[1] + kScale * kAlpha); });
  const auto of_integers = [](const Int* x) {
    const float factor = x[1] > 0 ? 1.0507009873554805f : static_cast<float>(x[1]) + 1.7580993408473769f;
    return std::nearbyint(static_cast<float>(x[0]) * factor);
  };
  slope.integer = [=](const Int* x) {
    return static_cast<Int>(std::clamp(static_cast<double>(of_integers(x)), -0x1p31, 0x1p31 - 1));
  };
  slope.any_integer = [=](const Int* x) {
    return std::fabs(of_integers(x)) > 127 && x[0] >= -128 && x[0] < 128 && x[1] >= -128 && x[1] < 128;
  };
  table.Add(PORTACL_FUNCTION(SeluBackward), "gradOutput result gradInput",
            Rules{NoNulls("gradOutput result gradInput"), DtypeIn("gradOutput", list),
                  SameDtype("gradOutput", "result"), SameDtype("result", "gradInput"),
                  SameShape("gradOutput", "result"), SameShape("result", "gradInput"),
                  DoneIfEmpty("gradOutput"), DtypeIsThatOf("result")},
            slope);
}

void AddSoftpluses(Table& table) {
  MapOperator& softplus = table.Add(
      PORTACL_FUNCTION(Softplus), "self beta threshold out",
      Rules{NoNulls("self beta threshold out"), DtypeIn("self", kFloats), CastsToFloat("beta threshold")} +
          CastOut(),
      Near([](const Real* x) {
        const Real z = x[0] * x[1];
        if (z > x[2]) return x[0];
        const Real power = std::exp(z);
        return (power >= 0x1p128L ? kInfinity : std::log1p(power)) / x[1];
      }));
  SetCasts(softplus, "beta threshold");
  softplus.values = {{1, 0}, {20, 0}, {-0.75L, 0}, {3.7L, 0}, {0, 0}, {1000, 0}};

  const Listed any = kFDI;
  MapOperator& slope =
      table.Add(PORTACL_FUNCTION(SoftplusBackward), "gradOutput self beta threshold gradInput",
                Rules{NoNulls("gradOutput self gradInput beta threshold"), DtypeIn("gradOutput", kFD),
                      DtypeIn("self", any), DtypeIn("gradInput", kFD), Ranks("gradOutput self gradInput"),
                      SameShape("gradOutput", "self"), SameShape("self", "gradInput"),
                      DoneIfEmpty("gradOutput self"), Sets([](PlanCall& call) {
                        const DtypeNumber self = call["self"].dtype;
                        const bool same = self == call["gradOutput"].dtype &&
                                          IsOneOf(self, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16});
                        call.promoted = same ? self : DtypeNumber{ACL_FLOAT};
                      })},
                Gradient([](const Real* x) { return x[1] * x[2] > x[3] ? 1 : Logistic(x[1] * x[2]); }));
  SetCasts(slope, "beta threshold");
  slope.values = softplus.values;

  const auto mish_power = [](Real x) { return std::tanh(std::log1p(std::exp(x))); };
  table.Add(PORTACL_FUNCTION(Mish), "self out",
            Rules{NoNulls("self out"), DtypeIn("self", kFloats)} + SameOut(),
            Near([=](const Real* x) { return x[0] * (x[0] > 1000 ? 1 : mish_power(x[0])); }));
  table.AddInPlace(PORTACL_FUNCTION(InplaceMish), "selfRef");
  table.Add(PORTACL_FUNCTION(MishBackward), "gradOutput self gradInput",
            Rules{NoNulls("gradOutput self gradInput"), DtypeIn("gradOutput self gradInput", kFloats),
                  Promotes("gradOutput self")} +
                BroadcastTo("gradOutput self", "gradInput"),
            Gradient([=](const Real* x) {
              if (std::isinf(x[1])) return std::numeric_limits<Real>::quiet_NaN();
              if (x[1] > 1000) return Real{1};
              const Real t = mish_power(x[1]);
              // 1 - t^2, where t comes near 1.
              const Real p = 1 + std::exp(x[1]);
              const Real rest = x[1] > 20 ? 4 / (p * p) : (1 - t) * (1 + t);
              return t + x[1] * Logistic(x[1]) * rest;
            }));

  const Rules alike = {DtypeIn("self", kFloats), SameDtype("self", "out"), SameShape("self", "out"),
                       DoneIfEmpty("self"), DtypeIsThatOf("self")};
  Oracle log_sigmoid = Near([](const Real* x) {
    return std::fmin(x[0], Real{0}) + (std::isnan(x[0]) ? x[0] : 0) - std::log1p(std::exp(-std::fabs(x[0])));
  });
  log_sigmoid.zero_sign_free = true;
  table.Add(PORTACL_FUNCTION(LogSigmoid), "self out", Rules{NoNulls("self out")} + alike, log_sigmoid);
  MapOperator& forward = table.Add(PORTACL_FUNCTION(LogSigmoidForward), "self out buffer",
                                   Rules{NoNulls("self out")} + alike, log_sigmoid);
  forward.output = "out";
  forward.ignored = {"buffer"};
  MapOperator& log_slope =
      table.Add(PORTACL_FUNCTION(LogSigmoidBackward), "gradOutput self buffer gradInput",
                Rules{NoNulls("gradOutput self buffer gradInput"), DtypeIn("gradOutput", kFloats),
                      SameDtype("gradOutput", "self"), SameDtype("self", "gradInput"),
                      SameShape("gradOutput", "gradInput"), SameShape("self", "gradInput"),
                      DoneIfEmpty("gradOutput self"), DtypeIsThatOf("self")},
                Gradient([](const Real* x) { return Logistic(-x[1]); }));
  log_slope.ignored = {"buffer"};
}

// ---- straight pieces ----

void AddHardOnes(Table& table) {
  Oracle sigmoid;
  sigmoid.single = [](const float* x) {
    const float line = x[0] * (1.0f / 6) + 0.5f;
    return line > 1 ? 1 : line < 0 ? 0 : line;
  };
  table.Add(
      PORTACL_FUNCTION(Hardsigmoid), "self out",
      Rules{NoNulls("self out"), DtypeIn("self", kFloats + DtypeList{ACL_INT32}), SameFormat("self", "out")} +
          SameOut() + Rules{Sets([](PlanCall& call) {
            if (call["self"].dtype == ACL_INT32) call.promoted = ACL_FLOAT;
          })},
      sigmoid);
  table.AddInPlace(PORTACL_FUNCTION(InplaceHardsigmoid), "self");
  table.Add(PORTACL_FUNCTION(HardsigmoidBackward), "gradOutput self out",
            Rules{NoNulls("gradOutput self out"), DtypeIn("gradOutput self", kFloats),
                  Promotes("gradOutput self"), PromotedCastsTo("out"), Ranks("gradOutput self out"),
                  SameShape("gradOutput", "self"), SameShape("self", "out"), DoneIfEmpty("gradOutput self")},
            Exact([](const auto* x) { return x[1] > -3 && x[1] < 3 ? x[0] / 6 : 0; }));

  table.Add(PORTACL_FUNCTION(Hardswish), "self out",
            Rules{NoNulls("self out"), DtypeIn("self out", kFloats)} + AnyRank("self", "out"),
            Exact([](const auto* x) { return x[0] <= -3  ? 0
                                             : x[0] >= 3 ? x[0]
                                                         : x[0] * (x[0] + 3) / 6; }));
  table.AddInPlace(PORTACL_FUNCTION(InplaceHardswish), "self");
  table.Add(PORTACL_FUNCTION(HardswishBackward), "gradOutput self out",
            ThreeAlike(kFloats, "out") + Rules{DoneIfEmpty("gradOutput self"), DtypeIsThatOf("self")},
            Exact([](const auto* x) {
              return x[1] < -3 ? 0 : x[1] > 3 || std::isnan(x[1]) ? x[0] : x[0] * (x[1] / 3 + 0.5f);
            }));
  table.Add(PORTACL_FUNCTION(HardswishBackwardV2), "gradOutput self out",
            ThreeAlike(kFloats, "out") + Rules{DoneIfEmpty("gradOutput self"), DtypeIsThatOf("self")},
            Exact([](const auto* x) {
              return x[1] <= -3 ? 0 : x[1] >= 3 || std::isnan(x[1]) ? x[0] : x[0] * (x[1] / 3 + 0.5f);
            }));

  const DtypeList whole = {ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32, ACL_INT64};
  Oracle tanh = Exact([](const auto* x) {
    if (std::isnan(x[0])) return x[0];
    const auto at_least = x[0] < x[1] ? x[1] : x[0];
    return at_least > x[2] ? x[2] : at_least;
  });
  tanh.integer = [](const Int* x) { return std::min(std::max(x[0], x[1]), x[2]); };
  tanh.rounds_scalars = true;
  MapOperator& hardtanh =
      table.Add(PORTACL_FUNCTION(Hardtanh), "self clipValueMin clipValueMax out",
                Rules{NoNulls("self clipValueMin clipValueMax out"), DtypeIn("self", kFD + whole),
                      DtypeIn("clipValueMin clipValueMax", kFD + whole),
                      Refuses(161002, "clipValueMin",
                              [=](PlanCall& call) {
                                const DtypeNumber as =
                                    IsOneOf(call["clipValueMin"].dtype, whole) ? ACL_INT64 : ACL_DOUBLE;
                                return ScalarIn(call["clipValueMin"], as).real >
                                       ScalarIn(call["clipValueMax"], as).real;
                              })} +
                    SameOut(),
                tanh);
  hardtanh.values = {{0.5L, 0}, {3, 0}, {-2, 0}, {2.7L, 0}};
  table.AddInPlace(PORTACL_FUNCTION(InplaceHardtanh), "selfRef clipValueMin clipValueMax");
  MapOperator& slope = table.Add(
      PORTACL_FUNCTION(HardtanhBackward), "gradOutput self min max out",
      Rules{NoNulls("self gradOutput out min max"), DtypeIn("gradOutput self out", kFloats),
            SameDtype("gradOutput", "self"), Ranks("gradOutput self"), SameShape("gradOutput", "self"),
            SameShape("self", "out"), DoneIfEmpty("gradOutput self"), DtypeIsThatOf("self")},
      Exact([](const auto* x) { return x[1] <= x[2] || x[1] >= x[3] ? 0 : x[0]; }));
  SetCasts(slope, "min max");
  slope.values = {{-2, 0}, {3, 0}, {0.5L, 0}, {2.75L, 0}};
}

void AddShrinks(Table& table) {
  const auto bound = [](auto lambda) { return lambda < 0 ? 0 : lambda; };
  MapOperator& hard =
      table.Add(PORTACL_FUNCTION(Hardshrink), "self lambd out",
                Rules{NoNulls("self lambd out"), DtypeIn("self out", On310BToo()), Ranks("self")} +
                    AnyRank("self", "out"),
                Exact([=](const auto* x) { return std::fabs(x[0]) <= bound(x[1]) ? 0 : x[0]; }));
  SetCasts(hard, "lambd");
  const auto slope = Exact([=](const auto* x) { return std::fabs(x[1]) <= bound(x[2]) ? 0 : x[0]; });
  MapOperator& hard_slope = table.Add(
      PORTACL_FUNCTION(HardshrinkBackward), "gradOutput self lambd gradInput",
      Rules{NoNulls("gradOutput self lambd gradInput"), DtypeIn("gradOutput self gradInput", kFloats),
            Promotes("gradOutput self"), Ranks("gradOutput self gradInput"), DoneIfEmpty("gradOutput self"),
            Broadcasts("gradOutput self"), ResultIs("gradInput")},
      slope);
  SetCasts(hard_slope, "lambd");

  const auto is_negative = [](const std::string& name) {
    return Refuses(161002, name, [=](PlanCall& call) { return FloatOf(call, name) < 0; });
  };
  MapOperator& soft = table.Add(
      PORTACL_FUNCTION(Softshrink), "self lambd out",
      Rules{NoNulls("self lambd out"), DtypeIn("self out", kFloats), Ranks("self"), is_negative("lambd")} +
          AnyRank("self", "out"),
      Exact([](const auto* x) { return x[0] > x[1]    ? x[0] - x[1]
                                       : x[0] < -x[1] ? x[0] + x[1]
                                                      : 0; }));
  SetCasts(soft, "lambd");
  MapOperator& shrink = table.Add(
      PORTACL_FUNCTION(Shrink), "self lambd bias out",
      Rules{NoNulls("self lambd bias out"), DtypeIn("self out", {{ACL_FLOAT, ACL_FLOAT16}}),
            is_negative("lambd"), Ranks("self")} +
          AnyRank("self", "out"),
      Exact([](const auto* x) { return x[0] > x[1]    ? x[0] - x[2]
                                       : x[0] < -x[1] ? x[0] + x[2]
                                                      : 0; }));
  SetCasts(shrink, "lambd bias");
  MapOperator& soft_slope = table.Add(
      PORTACL_FUNCTION(SoftshrinkBackward), "gradOutput self lambda gradInput",
      Rules{NoNulls("gradOutput self lambda gradInput"), DtypeIn("gradOutput self gradInput", On310BToo()),
            is_negative("lambda"), Ranks("gradOutput self"), Broadcasts("gradOutput self"),
            ResultIs("gradInput"), DoneIfEmpty("gradOutput gradInput"), Sets([](PlanCall& call) {
              const DtypeNumber self = call["self"].dtype;
              call.promoted = self == call["gradOutput"].dtype ? self : DtypeNumber{ACL_FLOAT};
            }),
            Refuses(561103, "gradInput",
                    [](PlanCall& call) { return call["gradInput"].dtype != call.promoted; })},
      slope);
  SetCasts(soft_slope, "lambda");
}

void AddOutputGradients(Table& table) {
  table.Add(
      PORTACL_FUNCTION(TanhBackward), "gradOutput output gradInput",
      Rules{NoNulls("gradOutput output gradInput"), DtypeIn("gradOutput", kFD),
            SameDtype("gradOutput", "output"), SameDtype("output", "gradInput"), DtypeIsThatOf("output")} +
          BroadcastTo("gradOutput output", "gradInput"),
      Exact([](const auto* x) { return x[0] * (1 - x[1] * x[1]); }));
  Oracle sigmoid = Exact([](const auto* x) { return x[0] * (1 - x[1]) * x[1]; });
  using Complex = std::complex<Real>;
  sigmoid.complex = [](const Complex* x) { return x[0] * std::conj((Complex(1) - x[1]) * x[1]); };
  sigmoid.scale = [](const Complex* x) { return std::abs(x[0]) * (1 + std::abs(x[1])) * std::abs(x[1]); };
  sigmoid.ulp_complex = 8;
  const Listed anywhere = {{ACL_FLOAT, ACL_FLOAT16, ACL_DOUBLE, ACL_COMPLEX64, ACL_COMPLEX128, ACL_BF16}};
  table.Add(PORTACL_FUNCTION(SigmoidBackward), "gradOutput output gradInput",
            Rules{NoNulls("gradOutput output gradInput"), DtypeIn("gradOutput", kFDC),
                  DtypeIn("output gradInput", anywhere), Promotes("gradOutput output"),
                  PromotedCastsTo("gradInput")} +
                BroadcastTo("gradOutput output", "gradInput"),
            sigmoid);
}

// ---- logarithms of odds ----

void AddLogits(Table& table) {
  const auto tiling = [](const std::string& names, auto wrong) { return Refuses(561002, names, wrong); };
  const auto shapes = [=](const std::string& first, const std::string& second) {
    return tiling(first + " " + second,
                  [=](PlanCall& call) { return call[first].shape != call[second].shape; });
  };
  const Listed since_a2 = {{}, {ACL_FLOAT, ACL_FLOAT16, ACL_BF16}};
  const auto narrow = [](Real x) { return static_cast<float>(x); };

  Oracle logit = Near(
      [=](const Real* x) {
        const float eps = narrow(x[1]);
        Real z = x[0];
        if (eps >= 0) z = z < eps ? eps : z > 1.0f - eps ? 1.0f - eps : z;
        return z == 1 ? kInfinity : std::log(z / (1 - z));
      },
      0.51);
  MapOperator& forward =
      table.Add(PORTACL_FUNCTION(Logit), "input eps out",
                {NoNulls("input out"), DtypeIn("input", since_a2), SameDtype("input", "out"),
                 tiling("input", [](PlanCall& call) { return call["input"].shape.size() > 8; }),
                 shapes("input", "out"), DoneIfEmpty("input"), DtypeIsThatOf("input")},
                logit);
  forward.integers = {{-1, 0}, {0.25L, 0}, {0, 0}, {1e-6L, 0}};

  Oracle slope;
  slope.single = [](const float* x) {
    const bool is_bounded = x[2] >= 0;
    const float least = is_bounded ? x[2] : 0;
    const float most = is_bounded ? 1 - x[2] : 1;
    if (x[0] < least || x[0] > most) return is_bounded ? 0 : std::numeric_limits<float>::quiet_NaN();
    if (x[0] == 0 || x[0] == 1) return x[1] * std::numeric_limits<float>::infinity();
    return x[1] / (x[0] * (1 - x[0]));
  };
  MapOperator& backward =
      table.Add(PORTACL_FUNCTION(LogitGrad), "x dy eps out",
                {NoNulls("x dy out"), DtypeIn("x", since_a2), SameDtype("x", "dy"), SameDtype("x", "out"),
                 tiling("x", [](PlanCall& call) { return call["x"].shape.size() > 8; }), shapes("x", "dy"),
                 shapes("x", "out"), DoneIfEmpty("x"), DtypeIsThatOf("x")},
                slope);
  backward.integers = {{-1, 0}, {0.25L, 0}, {0, 0}, {1e-6L, 0}};
}

}  // namespace

const std::vector<MapOperator>& ActivationOperators() {
  static const std::vector<MapOperator> all = [] {
    Table table;
    AddRelus(table);
    AddGelus(table);
    AddSwishes(table);
    AddElus(table);
    AddSelus(table);
    AddSoftpluses(table);
    AddHardOnes(table);
    AddShrinks(table);
    AddOutputGradients(table);
    AddLogits(table);
    return Completed(table.Take());
  }();
  return all;
}

}  // namespace portacl::testing
