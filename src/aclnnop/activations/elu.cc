// aclnnElu, aclnnCelu and their gradients: exponential where the operand is negative.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/elu.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/functions/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace elu {

// Numbers: alpha, scale, inputScale. The negative part is constant where alpha or inputScale is not finite.
struct Elu : Activation<Elu, 1, LaneTypes<float, double>> {
  static constexpr bool kTakes16BitFloats = true;
  explicit Elu(const Parameters& parameters)
      : Activation(parameters),
        is_constant(!std::isfinite(Number(0)) || !std::isfinite(Number(2))),
        scale(static_cast<double>(Number(1))),
        negative_scale(static_cast<double>(Number(0)) * scale),
        input_scale(static_cast<double>(Number(2))),
        constant(-Number(0) * Number(1)) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const auto is_positive = hn::Gt(x, hn::Zero(d));
    if (is_constant) {
      return hn::IfThenElse(is_positive, hn::Mul(x, Set(d, 1)),
                            hn::Set(d, static_cast<hn::TFromD<D>>(constant)));
    }
    if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
      const V power = functions::Expm1(d, hn::Mul(x, hn::Set(d, input_scale)));
      return hn::IfThenElse(is_positive, hn::Mul(x, hn::Set(d, scale)),
                            hn::Mul(hn::Set(d, negative_scale), power));
    } else {
      return functions::InDoubles(d, x, [this](auto wide, auto t) HWY_ATTR {
        const auto power = WholeExpm1(wide, hn::Mul(t, hn::Set(wide, input_scale)));
        return hn::IfThenElse(hn::Gt(t, hn::Zero(wide)), hn::Mul(t, hn::Set(wide, scale)),
                              hn::Mul(hn::Set(wide, negative_scale), power));
      });
    }
  }

  bool is_constant;
  double scale;
  double negative_scale;
  double input_scale;
  float constant;
};

// Numbers: alpha, scale, inputScale, and whether x is the function's result.
struct EluSlope : Activation<EluSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  explicit EluSlope(const Parameters& parameters)
      : Activation(parameters),
        is_result(Number(3) != 0),
        scale(static_cast<double>(Number(1))),
        negative_scale(static_cast<double>(Number(0)) * scale),
        input_scale(static_cast<double>(Number(2))) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    return functions::InDoubles(d, gradient, x, [this](auto wide, auto g, auto t) HWY_ATTR {
      const auto factor = hn::Set(wide, input_scale);
      const auto coefficient = hn::Set(wide, negative_scale);
      auto slope = hn::Mul(factor, hn::Add(t, coefficient));
      if (!is_result) {
        const auto z = hn::Mul(t, factor);
        const auto power = hn::IfThenElse(hn::Gt(z, hn::Set(wide, 700.0)), functions::Infinity(wide),
                                          functions::ExpInDouble(wide, z));
        slope = hn::Mul(hn::Mul(factor, coefficient), functions::OrNan(power, z));
      }
      slope = hn::IfThenElse(hn::Gt(t, hn::Zero(wide)), hn::Set(wide, scale), slope);
      return hn::Mul(g, slope);
    });
  }

  bool is_result;
  double scale;
  double negative_scale;
  double input_scale;
};

// Number: alpha.
struct Celu : Activation<Celu, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return functions::InDoubles(d, x, [alpha = static_cast<double>(Number(0))](auto wide, auto t) HWY_ATTR {
      const auto scale = hn::Set(wide, alpha);
      const auto power = hn::Mul(scale, WholeExpm1(wide, hn::Div(t, scale)));
      return hn::IfThenElse(hn::Gt(t, hn::Zero(wide)), t, power);
    });
  }
};

}  // namespace elu
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/elu_functions.h"

namespace portacl {
namespace {

constexpr auto kElu = PORTACL_VALUE_KERNELS(elu::Elu);
constexpr auto kEluSlope = PORTACL_VALUE_KERNELS(elu::EluSlope);
constexpr auto kCelu = PORTACL_VALUE_KERNELS(elu::Celu);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kInput, kGradInput };
enum EluAttributes { kAlpha, kScale, kInputScale, kIsResult };

constexpr DtypeRule kEluDtypes = Everywhere(kFloatHalfAndBf16 | kDouble);

constexpr auto EluChecks(int out) {
  return Join(List(NotNull(kSelf), ScalarNotNull(kAlpha), ScalarNotNull(kScale), ScalarNotNull(kInputScale),
                   NotNull(out), DtypesIn(kEluDtypes, {kSelf})),
              ScalarsCastToFloat({kAlpha, kScale, kInputScale}),
              OfOneTensor(kSelf, out, OutDtype::kCast, {kAlpha, kScale, kInputScale}),
              List(FunctionsThere(kDouble, WhyFunctionsAreMissing)));
}
constexpr auto kEluChecks = EluChecks(kOut);
constexpr auto kInplaceEluChecks = EluChecks(kSelf);

aclnnStatus AlphaOfResult(const Check& check, OperatorCall& call) noexcept {
  const float alpha = FloatsOf(call).Get<float>(0);
  if (call.attributes[kIsResult].integer == 0 || !(alpha < 0)) return ACL_SUCCESS;
  return RefuseNumber(check, call, kAlpha, alpha, "at least 0 where selfOrResult is a result");
}

constexpr auto kEluBackwardChecks =
    Join(List(NotNull(kGradOutput), ScalarNotNull(kAlpha), ScalarNotNull(kScale), ScalarNotNull(kInputScale),
              NotNull(kInput), NotNull(kGradInput), DtypesIn(kBf16SinceAtlasA2, {kGradOutput}),
              SameDtype(kGradOutput, kInput), CastsTo(kGradOutput, kGradInput)),
         ScalarsCastToFloat({kAlpha, kScale, kInputScale}),
         List(Custom(AlphaOfResult), RankAtMost(8, {kGradOutput, kInput}), SameShape(kGradOutput, kInput),
              SameShape(kInput, kGradInput), PromotesToDtypeOf(kInput)),
         ComputableChecks({kGradOutput, kInput}, kGradInput, {kAlpha, kScale, kInputScale}));

aclnnStatus AlphaDivides(const Check& check, OperatorCall& call) noexcept {
  const float alpha = FloatsOf(call).Get<float>(0);
  if (alpha < 0 || alpha > 0) return ACL_SUCCESS;
  return RefuseNumber(check, call, kAlpha, alpha, "any number but 0");
}

constexpr auto CeluChecks(int out) {
  return Join(List(NotNull(kSelf), ScalarNotNull(kAlpha), NotNull(out), DtypesIn(kBf16On200I, {kSelf})),
              ScalarsCastToFloat({kAlpha}), List(Custom(AlphaDivides)),
              OfOneTensor(kSelf, out, OutDtype::kCast, {kAlpha}));
}
constexpr auto kCeluChecks = CeluChecks(kOut);
constexpr auto kInplaceCeluChecks = CeluChecks(kSelf);

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnElu) {
  return RunPhase1(call, kEluChecks, workspaceSize, executor, SetActivation<kElu, kSelf>);
}

PORTACL_PHASE_1(aclnnInplaceElu) {
  return RunPhase1(call, kInplaceEluChecks, workspaceSize, executor, SetActivation<kElu, kSelf>);
}

PORTACL_PHASE_1(aclnnEluBackward) {
  return RunPhase1(call, kEluBackwardChecks, workspaceSize, executor,
                   SetActivation<kEluSlope, kGradOutput, kInput>);
}

PORTACL_PHASE_1(aclnnCelu) {
  return RunPhase1(call, kCeluChecks, workspaceSize, executor, SetActivation<kCelu, kSelf>);
}

PORTACL_PHASE_1(aclnnInplaceCelu) {
  return RunPhase1(call, kInplaceCeluChecks, workspaceSize, executor, SetActivation<kCelu, kSelf>);
}

#endif  // HWY_ONCE
