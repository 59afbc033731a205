// aclnnRelu, aclnnLeakyRelu, aclnnThresholdBackward: change only elements that are not positive.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/relu.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace relu {

// NaN stays NaN, -0 becomes 0.
struct Relu : Activation<Relu, 1, LaneTypes<float, int8_t, int32_t, int64_t>> {
  static constexpr bool kHasFastPath = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      return hn::IfThenZeroElse(hn::Le(x, hn::Zero(d)), x);
    } else {
      return hn::Max(x, hn::Zero(d));
    }
  }
};

// Returns the gradient where x is above the threshold or NaN. Thresholds up to float32's epsilon count as 0.
struct AboveThreshold : Activation<AboveThreshold, 2, LaneTypes<float, int64_t>> {
  static constexpr bool kHasFastPath = true;
  explicit AboveThreshold(const Parameters& parameters) : Activation(parameters), threshold(Number(0)) {
    if (std::fabs(threshold) <= std::numeric_limits<float>::epsilon()) threshold = 0.0f;
    // An integer is above a number if it is above the number rounded down. INT64 has only the threshold 0.
    const bool fits = std::fabs(threshold) < 0x1p63f;
    const auto lowest = std::numeric_limits<int64_t>::lowest();
    whole = fits            ? static_cast<int64_t>(std::floor(threshold))
            : threshold > 0 ? std::numeric_limits<int64_t>::max()
                            : lowest;
  }

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      return hn::IfThenZeroElse(hn::Le(x, hn::Set(d, threshold)), gradient);
    } else {
      return hn::IfThenElseZero(hn::Gt(x, hn::Set(d, whole)), gradient);
    }
  }

  float threshold;
  int64_t whole;
};

struct LeakyRelu : Activation<LeakyRelu, 1, LaneTypes<float, double>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), x, hn::Mul(Set(d, 0), x));
  }
};

struct LeakyReluSlope : Activation<LeakyReluSlope, 2, LaneTypes<float, double>> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    return hn::IfThenElse(hn::Gt(x, hn::Zero(d)), gradient, hn::Mul(gradient, Set(d, 0)));
  }
};

}  // namespace relu
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/relu_functions.h"
#include "aclnnop/jobs/activation_kernels.h"

namespace portacl {
namespace {

constexpr auto kRelu = PORTACL_VALUE_KERNELS(relu::Relu);
constexpr auto kAboveThreshold = PORTACL_VALUE_KERNELS(relu::AboveThreshold);
constexpr auto kLeakyRelu = PORTACL_VALUE_KERNELS(relu::LeakyRelu);
constexpr auto kLeakyReluSlope = PORTACL_VALUE_KERNELS(relu::LeakyReluSlope);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kInput, kGradInput };

// ---- aclnnRelu ----
constexpr DtypeRule kReluDtypes =
    WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet(ACL_INT8, ACL_UINT8, ACL_INT32, ACL_INT64));

constexpr auto ReluChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(out), DtypesIn(kReluDtypes, {kSelf})),
              OfOneTensor(kSelf, out, OutDtype::kSame));
}
constexpr auto kReluChecks = ReluChecks(kOut);
constexpr auto kInplaceReluChecks = ReluChecks(kSelf);

void SetRelu(const OperatorCall& call, Executor& executor) {
  if (call.promoted != ACL_UINT8) return SetActivation<kRelu, kSelf>(call, executor);
  // UINT8 has no negative elements.
  if (!call.in_place) SetMoveJob(call, kSelf, kOut, executor);
}

// ---- aclnnThresholdBackward ----
constexpr DtypeSet kThresholdSet = kFloatAndHalf | DtypeSet(ACL_INT8, ACL_UINT8, ACL_INT32);
constexpr DtypeRule kThresholdDtypes = WithBf16SinceAtlasA2(kThresholdSet);
constexpr DtypeRule kReluGradientDtypes =
    ByGeneration(kThresholdSet, kThresholdSet | kBf16, kThresholdSet | kBf16 | DtypeSet(ACL_INT64));

bool ThresholdIsZero(const OperatorCall& call) noexcept {
  return std::fabs(FloatsOf(call).Get<float>(0)) <= std::numeric_limits<float>::epsilon();
}
bool ThresholdIsNotZero(const OperatorCall& call) noexcept { return !ThresholdIsZero(call); }

constexpr auto kThresholdBackwardChecks =
    Join(List(ScalarNotNull(0), NotNull(kGradInput), NotNull(kGradOutput), NotNull(kInput),
              If(ThresholdIsZero, DtypesIn(kReluGradientDtypes, {kGradOutput, kInput, kGradInput})),
              If(ThresholdIsNotZero, DtypesIn(kThresholdDtypes, {kGradOutput, kInput, kGradInput})),
              SameDtype(kGradOutput, kInput), SameDtype(kInput, kGradInput), PromotesToDtypeOf(kInput)),
         List(RankAtMost(8, {kGradOutput, kInput})), BroadcastsInto({kInput, kGradOutput}, kGradInput),
         ComputableChecks({kInput, kGradOutput}, kGradInput, {0}));

// ---- aclnnLeakyRelu ----
constexpr auto LeakyReluChecks(int out) {
  return Join(List(NotNull(kSelf), ScalarNotNull(0), NotNull(out), DtypesIn(kActivatedAndDouble, {kSelf})),
              OfOneTensor(kSelf, out, OutDtype::kCast, {0}));
}
constexpr auto kLeakyReluChecks = LeakyReluChecks(kOut);
constexpr auto kInplaceLeakyReluChecks = LeakyReluChecks(kSelf);

enum LeakyReluAttributes { kNegativeSlope, kSelfIsResult };
constexpr DtypeRule kSlopeDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | kIntegersAndBool);

aclnnStatus SlopeFits(const Check& check, OperatorCall& call) noexcept {
  const float slope = FloatsOf(call).Get<float>(0);
  if (call.attributes[kSelfIsResult].integer == 0 || !(slope < 0)) return ACL_SUCCESS;
  return RefuseNumber(check, call, kNegativeSlope, slope, "at least 0 where self is a result");
}

constexpr auto kLeakyReluBackwardChecks = Join(
    List(NotNull(kGradOutput), NotNull(kInput), ScalarNotNull(kNegativeSlope), NotNull(kGradInput),
         DtypesIn(kActivatedAndDouble, {kGradOutput, kInput}), ScalarDtypesIn(kSlopeDtypes, {kNegativeSlope}),
         Custom(SlopeFits), Promotes({kGradOutput, kInput}), PromotedCastsTo(kGradInput)),
    BroadcastChecks(kGradOutput, kInput, kGradInput), ComputableChecks({kGradOutput, kInput}, kGradInput));

}  // namespace
const engine::KernelTable& ReluKernels() noexcept { return kRelu; }

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnRelu) { return RunPhase1(call, kReluChecks, workspaceSize, executor, SetRelu); }

PORTACL_PHASE_1(aclnnInplaceRelu) {
  return RunPhase1(call, kInplaceReluChecks, workspaceSize, executor, SetRelu);
}

PORTACL_PHASE_1(aclnnThresholdBackward) {
  return RunPhase1(call, kThresholdBackwardChecks, workspaceSize, executor,
                   SetActivation<kAboveThreshold, kGradOutput, kInput>);
}

PORTACL_PHASE_1(aclnnLeakyRelu) {
  return RunPhase1(call, kLeakyReluChecks, workspaceSize, executor, SetActivation<kLeakyRelu, kSelf>);
}

PORTACL_PHASE_1(aclnnInplaceLeakyRelu) {
  return RunPhase1(call, kInplaceLeakyReluChecks, workspaceSize, executor, SetActivation<kLeakyRelu, kSelf>);
}

PORTACL_PHASE_1(aclnnLeakyReluBackward) {
  return RunPhase1(call, kLeakyReluBackwardChecks, workspaceSize, executor,
                   SetActivation<kLeakyReluSlope, kGradOutput, kInput>);
}

#endif  // HWY_ONCE
