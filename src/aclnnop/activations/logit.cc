// aclnnLogit, log(z / (1 - z)) where z is x clamped to [eps, 1 - eps], and aclnnLogitGrad, dy / (x * (1 - x))
// within these bounds.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/logit.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/functions/logarithmic-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace logits {

enum Numbers { kLeast, kMost, kOutside };

// Near z = 1/2 the odds are near 1 and their logarithm is small, so the rounding error of the odds matters:
// it is added to the logarithm.
template <class D, class V>
HWY_INLINE V LogOfOdds(D d, V z) {
  const V rest = hn::Sub(hn::Set(d, 1.0), z);
  const V odds = hn::Div(z, rest);
  const V left = functions::Fma(d, hn::Neg(odds), rest, z);
  return functions::Fma(d, left, hn::Set(d, 2.0), functions::LogInDouble(d, odds));
}

struct Logit : Activation<Logit, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V least = Set(d, kLeast);
    const V most = Set(d, kMost);
    const V z = hn::IfThenElse(hn::Lt(x, least), least, hn::IfThenElse(hn::Gt(x, most), most, x));
    const V result =
        functions::InDoubles(d, z, [](auto wide, auto t) HWY_ATTR { return LogOfOdds(wide, t); });
    const V zero = hn::Zero(d);
    const V one = hn::Set(d, 1.0f);
    const V infinity = functions::Infinity(d);
    const V ends =
        hn::IfThenElse(hn::Eq(z, zero), hn::Neg(infinity), hn::IfThenElse(hn::Eq(z, one), infinity, result));
    const auto is_outside = hn::Or(hn::Lt(z, zero), hn::Gt(z, one));
    return functions::OrNan(hn::IfThenElse(is_outside, functions::NotANumber(d), ends), z);
  }
};

// Rounds each step. kOutside is the result outside the bounds.
struct LogitSlope : Activation<LogitSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x, V gradient) const {
    const V one = hn::Set(d, 1.0f);
    const V inside = hn::Div(gradient, hn::Mul(x, hn::Sub(one, x)));
    const auto is_end = hn::Or(hn::Eq(x, hn::Zero(d)), hn::Eq(x, one));
    const V slope = hn::IfThenElse(is_end, hn::Mul(gradient, functions::Infinity(d)), inside);
    const auto is_outside = hn::Or(hn::Lt(x, Set(d, kLeast)), hn::Gt(x, Set(d, kMost)));
    return hn::IfThenElse(is_outside, Set(d, kOutside), slope);
  }
};

}  // namespace logits
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>
#include <limits>

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/logit_functions.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kLogit = PORTACL_VALUE_KERNELS(logits::Logit);
constexpr auto kLogitSlope = PORTACL_VALUE_KERNELS(logits::LogitSlope);

constexpr DtypeRule kDtypes = SinceAtlasA2(kFloatHalfAndBf16);
// CANN's code when a kernel's own checks refuse a call.
constexpr aclnnStatus kTiling = ACLNN_ERR_INNER_TILING_ERROR;

enum Forward { kInput, kOut };
enum Gradient { kX, kDy, kDx };

constexpr auto kLogitChecks =
    Join(List(NotNull(kInput), NotNull(kOut), DtypesIn(kDtypes, {kInput}), SameDtype(kInput, kOut),
              WithCode(kTiling, RankAtMost(8, {kInput})), WithCode(kTiling, SameShape(kInput, kOut)),
              PromotesToDtypeOf(kInput)),
         ComputableChecks({kInput}, kOut));
constexpr auto kGradientChecks = Join(
    List(NotNull(kX), NotNull(kDy), NotNull(kDx), DtypesIn(kDtypes, {kX}), SameDtype(kX, kDy),
         SameDtype(kX, kDx), WithCode(kTiling, RankAtMost(8, {kX})), WithCode(kTiling, SameShape(kX, kDy)),
         WithCode(kTiling, SameShape(kX, kDx)), PromotesToDtypeOf(kX)),
    ComputableChecks({kX, kDy}, kDx));

// Returns the bounds, and the gradient outside of them. Without an eps, the gradient is NaN outside [0, 1].
// The logit then needs no bounds: it is NaN outside [0, 1] by itself.
engine::Scalars Bounds(const OperatorCall& call, bool is_gradient) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto eps = static_cast<float>(call.attributes[0].wide);
  float numbers[] = {eps, 1.0f - eps, 0.0f};
  if (!(eps >= 0)) {
    numbers[0] = is_gradient ? 0.0f : -kInfinity;
    numbers[1] = is_gradient ? 1.0f : kInfinity;
    numbers[2] = std::numeric_limits<float>::quiet_NaN();
  }
  engine::Scalars scalars;
  std::memcpy(scalars.bytes[0], numbers, sizeof numbers);
  return scalars;
}

void SetLogit(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kInput}, kOut, kLogit, Bounds(call, false), executor);
}
void SetGradient(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kX, kDy}, kDx, kLogitSlope, Bounds(call, true), executor);
}

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnLogit) { return RunPhase1(call, kLogitChecks, workspaceSize, executor, SetLogit); }

PORTACL_PHASE_1(aclnnLogitGrad) {
  return RunPhase1(call, kGradientChecks, workspaceSize, executor, SetGradient);
}

#endif  // HWY_ONCE
