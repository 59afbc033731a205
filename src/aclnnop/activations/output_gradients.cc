// aclnnTanhBackward and aclnnSigmoidBackward: gradients computed from the functions' results.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/output_gradients.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace output_gradients {

using engine::HWY_NAMESPACE::Complex;

// Rounds each step, in the order of the formula in the header.
struct TanhSlope : Activation<TanhSlope, 2, LaneTypes<float, double>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V y) const {
    const V one = hn::Set(d, static_cast<hn::TFromD<D>>(1));
    return hn::Mul(gradient, hn::Sub(one, hn::Mul(y, y)));
  }
};

struct SigmoidSlope : Activation<SigmoidSlope, 2, LaneTypes<float, double, Complex<float>, Complex<double>>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V y) const {
    const V one = hn::Set(d, static_cast<hn::TFromD<D>>(1));
    return hn::Mul(hn::Mul(gradient, hn::Sub(one, y)), y);
  }
  // Conjugates the factor.
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V gradient, V y, V gradient_imaginary, V y_imaginary, V& real,
                          V& imaginary) const {
    const V rest = hn::Sub(hn::Set(d, static_cast<hn::TFromD<D>>(1)), y);
    const V factor = hn::Add(hn::Mul(rest, y), hn::Mul(y_imaginary, y_imaginary));
    const V factor_imaginary = hn::Sub(hn::Mul(y_imaginary, y), hn::Mul(rest, y_imaginary));
    real = hn::Sub(hn::Mul(gradient, factor), hn::Mul(gradient_imaginary, factor_imaginary));
    imaginary = hn::Add(hn::Mul(gradient, factor_imaginary), hn::Mul(gradient_imaginary, factor));
  }
};

}  // namespace output_gradients
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/output_gradients_functions.h"

namespace portacl {
namespace {

constexpr auto kTanhSlope = PORTACL_VALUE_KERNELS(output_gradients::TanhSlope);
constexpr auto kSigmoidSlope = PORTACL_VALUE_KERNELS(output_gradients::SigmoidSlope);

enum Gradient { kGradOutput, kOutput, kGradInput };

constexpr auto kTanhBackwardChecks = Join(
    List(NotNull(kGradOutput), NotNull(kOutput), NotNull(kGradInput),
         DtypesIn(kActivatedAndDouble, {kGradOutput}), SameDtype(kGradOutput, kOutput),
         SameDtype(kOutput, kGradInput), PromotesToDtypeOf(kOutput)),
    BroadcastChecks(kGradOutput, kOutput, kGradInput), ComputableChecks({kGradOutput, kOutput}, kGradInput));

// Products before Atlas A2 refuse BF16 only in gradOutput.
constexpr DtypeSet kSigmoidSet = kFloatAndHalf | kDouble | kComplex;
constexpr DtypeRule kSigmoidGradient = WithBf16SinceAtlasA2(kSigmoidSet);
constexpr auto kSigmoidBackwardChecks = Join(
    List(NotNull(kGradOutput), NotNull(kOutput), NotNull(kGradInput),
         DtypesIn(kSigmoidGradient, {kGradOutput}), DtypesIn(kSigmoidSet | kBf16, {kOutput, kGradInput}),
         Promotes({kGradOutput, kOutput}), PromotedCastsTo(kGradInput)),
    BroadcastChecks(kGradOutput, kOutput, kGradInput), ComputableChecks({kGradOutput, kOutput}, kGradInput));

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnTanhBackward) {
  return RunPhase1(call, kTanhBackwardChecks, workspaceSize, executor,
                   SetActivation<kTanhSlope, kGradOutput, kOutput>);
}

PORTACL_PHASE_1(aclnnSigmoidBackward) {
  return RunPhase1(call, kSigmoidBackwardChecks, workspaceSize, executor,
                   SetActivation<kSigmoidSlope, kGradOutput, kOutput>);
}

#endif  // HWY_ONCE
