// aclnnSelu and its gradient: aclnnElu with the constants that preserve mean and variance. Integers are
// supported.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/selu.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"
#include "engine/map/integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace selu {

using engine::HWY_NAMESPACE::EachLane;

inline constexpr double kScale = 1.0507009873554805;
inline constexpr double kScaledAlpha = 1.7580993408473769;

// Converts a whole number to T, clamped to its range.
template <class T>
T Saturated(float number) {
  const auto beyond = -static_cast<float>(std::numeric_limits<T>::lowest());
  if (number >= beyond) return std::numeric_limits<T>::max();
  return number < -beyond ? std::numeric_limits<T>::lowest() : static_cast<T>(number);
}

// Negative integers give results between -1 and -2, which truncate to -1.
struct Selu : Activation<Selu, 1, LaneTypes<float, int8_t, int32_t>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    if constexpr (std::is_same_v<T, float>) {
      return functions::InDoubles(d, x, [](auto wide, auto t) HWY_ATTR {
        const auto power = hn::Mul(hn::Set(wide, kScaledAlpha), WholeExpm1(wide, t));
        return hn::IfThenElse(hn::Gt(t, hn::Zero(wide)), hn::Mul(t, hn::Set(wide, kScale)), power);
      });
    } else {
      return EachLane(
          d, [](T t) { return t < 0 ? T{-1} : Cut(t); }, x);
    }
  }

  static int32_t Cut(int32_t x) {
    return Saturated<int32_t>(std::trunc(static_cast<float>(x) * static_cast<float>(kScale)));
  }
  // CANN multiplies in float16: rounds the product to the eleven bits of its significand.
  static int8_t Cut(int8_t x) {
    const float product = static_cast<float>(x) * 1.050701f;
    const float spread = product * 8193.0f;
    return Saturated<int8_t>(std::trunc(spread - (spread - product)));
  }
};

struct SeluSlope : Activation<SeluSlope, 2, LaneTypes<float, int8_t, int32_t>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V result) const {
    using T = hn::TFromD<D>;
    if constexpr (std::is_same_v<T, float>) {
      return functions::InDoubles(d, gradient, result, [](auto wide, auto g, auto r) HWY_ATTR {
        const auto negative = hn::Add(r, hn::Set(wide, kScaledAlpha));
        return hn::Mul(g, hn::IfThenElse(hn::Gt(r, hn::Zero(wide)), hn::Set(wide, kScale), negative));
      });
    } else {
      return EachLane(
          d,
          [](T g, T r) {
            const float slope =
                r > 0 ? static_cast<float>(kScale) : static_cast<float>(r) + static_cast<float>(kScaledAlpha);
            return Saturated<T>(std::nearbyint(static_cast<float>(g) * slope));
          },
          gradient, result);
    }
  }
};

}  // namespace selu
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/selu_functions.h"

namespace portacl {
namespace {

constexpr auto kSelu = PORTACL_VALUE_KERNELS(selu::Selu);
constexpr auto kSeluSlope = PORTACL_VALUE_KERNELS(selu::SeluSlope);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kResult, kGradInput };

constexpr DtypeRule kSeluDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet(ACL_INT8, ACL_INT32));

constexpr auto SeluChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(out), DtypesIn(kSeluDtypes, {kSelf, out})),
              OfOneTensorOfAnyRank(kSelf, out));
}
constexpr auto kSeluChecks = SeluChecks(kOut);
constexpr auto kInplaceSeluChecks = SeluChecks(kSelf);

constexpr auto kSeluBackwardChecks = Join(
    List(NotNull(kGradOutput), NotNull(kResult), NotNull(kGradInput), DtypesIn(kSeluDtypes, {kGradOutput}),
         SameDtype(kGradOutput, kResult), SameDtype(kResult, kGradInput), SameShape(kGradOutput, kResult),
         SameShape(kResult, kGradInput), PromotesToDtypeOf(kResult)),
    ComputableChecks({kGradOutput, kResult}, kGradInput));

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSelu) {
  return RunPhase1(call, kSeluChecks, workspaceSize, executor, SetActivation<kSelu, kSelf>);
}

PORTACL_PHASE_1(aclnnInplaceSelu) {
  return RunPhase1(call, kInplaceSeluChecks, workspaceSize, executor, SetActivation<kSelu, kSelf>);
}

PORTACL_PHASE_1(aclnnSeluBackward) {
  return RunPhase1(call, kSeluBackwardChecks, workspaceSize, executor,
                   SetActivation<kSeluSlope, kGradOutput, kResult>);
}

#endif  // HWY_ONCE
