// aclnnHardswish, aclnnHardsigmoid, aclnnHardtanh and their gradients: piecewise linear activations.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/hard.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hard {

// Rounds each step. NaN stays NaN. INT32 is computed in float32 and truncated.
struct Hardsigmoid : Activation<Hardsigmoid, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V line = hn::Add(hn::Mul(x, hn::Set(d, 1.0f / 6)), hn::Set(d, 0.5f));
    const V one = hn::Set(d, 1.0f);
    const V limited = hn::IfThenElse(hn::Gt(line, one), one, line);
    return hn::IfThenZeroElse(hn::Lt(limited, hn::Zero(d)), limited);
  }
};

struct HardsigmoidSlope : Activation<HardsigmoidSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    const auto is_between = hn::Lt(hn::Abs(x), hn::Set(d, 3.0f));
    return hn::IfThenElseZero(is_between, hn::Div(gradient, hn::Set(d, 6.0f)));
  }
};

struct Hardswish : Activation<Hardswish, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V three = hn::Set(d, 3.0f);
    const V between = hn::Div(hn::Mul(x, hn::Add(x, three)), hn::Set(d, 6.0f));
    const V upper = hn::IfThenElse(hn::Ge(x, three), x, between);
    return hn::IfThenZeroElse(hn::Le(x, hn::Set(d, -3.0f)), upper);
  }
};

// Number: whether 3 and -3 belong to the outer pieces.
struct HardswishSlope : Activation<HardswishSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    const V three = hn::Set(d, 3.0f);
    const V a = hn::Abs(x);
    const V slope = hn::Add(hn::Div(x, three), hn::Set(d, 0.5f));
    const auto is_between = Number(0) != 0 ? hn::Lt(a, three) : hn::Le(a, three);
    const V outer = hn::IfThenZeroElse(hn::Lt(x, hn::Zero(d)), gradient);
    return hn::IfThenElse(is_between, hn::Mul(gradient, slope), outer);
  }
};

// Numbers: the bounds.
struct HardtanhSlope : Activation<HardtanhSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    const auto is_outside = hn::Or(hn::Le(x, Set(d, 0)), hn::Ge(x, Set(d, 1)));
    return hn::IfThenZeroElse(is_outside, gradient);
  }
};

}  // namespace hard
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include <cstring>

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/hard_functions.h"
#include "aclnnop/jobs/clamp.h"

namespace portacl {
namespace {

constexpr auto kHardsigmoid = PORTACL_VALUE_KERNELS(hard::Hardsigmoid);
constexpr auto kHardsigmoidSlope = PORTACL_VALUE_KERNELS(hard::HardsigmoidSlope);
constexpr auto kHardswish = PORTACL_VALUE_KERNELS(hard::Hardswish);
constexpr auto kHardswishSlope = PORTACL_VALUE_KERNELS(hard::HardswishSlope);
constexpr auto kHardtanhSlope = PORTACL_VALUE_KERNELS(hard::HardtanhSlope);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kInput, kGradInput };
enum Bounds { kMin, kMax };

constexpr DtypeRule kHardsigmoidDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | DtypeSet(ACL_INT32));

constexpr auto HardsigmoidChecks(int out) {
  return Join(
      List(NotNull(kSelf), NotNull(out), DtypesIn(kHardsigmoidDtypes, {kSelf}), SameFormat({kSelf, out})),
      OfOneTensor(kSelf, out, OutDtype::kSame), List(PromotesToFloat(kSelf)));
}
constexpr auto kHardsigmoidChecks = HardsigmoidChecks(kOut);
constexpr auto kInplaceHardsigmoidChecks = HardsigmoidChecks(kSelf);

constexpr auto kHardsigmoidBackwardChecks =
    Join(List(NotNull(kGradOutput), NotNull(kInput), NotNull(kGradInput),
              DtypesIn(kBf16SinceAtlasA2, {kGradOutput, kInput}), Promotes({kGradOutput, kInput}),
              PromotedCastsTo(kGradInput), RankAtMost(8, {kGradOutput, kInput, kGradInput}),
              SameShape(kGradOutput, kInput), SameShape(kInput, kGradInput)),
         ComputableChecks({kGradOutput, kInput}, kGradInput));

constexpr auto HardswishChecks(int out) {
  return Join(List(NotNull(kSelf), NotNull(out), DtypesIn(kBf16SinceAtlasA2, {kSelf, out})),
              OfOneTensorOfAnyRank(kSelf, out));
}
constexpr auto kHardswishChecks = HardswishChecks(kOut);
constexpr auto kInplaceHardswishChecks = HardswishChecks(kSelf);

constexpr auto kHardswishBackwardChecks =
    Join(List(NotNull(kGradOutput), NotNull(kInput), NotNull(kGradInput),
              DtypesIn(kBf16SinceAtlasA2, {kGradOutput}), SameDtype(kGradOutput, kInput),
              SameDtype(kInput, kGradInput), RankAtMost(8, {kGradOutput, kInput}),
              SameShape(kGradOutput, kInput), SameShape(kInput, kGradInput), PromotesToDtypeOf(kInput)),
         ComputableChecks({kGradOutput, kInput}, kGradInput));

void SetHardswishBackward(const OperatorCall& call, Executor& executor) {
  SetMapJob(call, {kGradOutput, kInput}, kGradInput, kHardswishSlope, {}, executor);
}
void SetHardswishBackwardV2(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  constexpr float kExclusive = 1.0f;
  std::memcpy(scalars.bytes[0], &kExclusive, sizeof kExclusive);
  SetMapJob(call, {kGradOutput, kInput}, kGradInput, kHardswishSlope, scalars, executor);
}

// ---- aclnnHardtanh ----
//
// Converts the bounds to self's dtype. Compares them as CANN does: as INT64 if the lower one is an integer.
constexpr DtypeRule kHardtanhDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kDouble | kIntegers);

template <class T>
T ValueOf(const aclScalar& scalar, aclDataType dtype) {
  T value;
  std::memcpy(&value, ConvertScalar(scalar, dtype).bytes, sizeof value);
  return value;
}

aclnnStatus BoundsInOrder(const Check& check, OperatorCall& call) noexcept {
  const aclScalar& lower = call.Scalar(kMin);
  const bool as_integers = kIntegers.Contains(lower.dtype);
  const aclScalar& upper = call.Scalar(kMax);
  bool is_wrong = false;
  if (as_integers) {
    is_wrong = ValueOf<int64_t>(lower, ACL_INT64) > ValueOf<int64_t>(upper, ACL_INT64);
  } else {
    is_wrong = ValueOf<double>(lower, ACL_DOUBLE) > ValueOf<double>(upper, ACL_DOUBLE);
  }
  if (!is_wrong) return ACL_SUCCESS;
  const float value = FloatsOf(call).Get<float>(0);
  return RefuseNumber(check, call, kMin, value, "at most clipValueMax");
}

constexpr auto HardtanhChecks(int out) {
  return Join(List(NotNull(kSelf), ScalarNotNull(kMin), ScalarNotNull(kMax), NotNull(out),
                   DtypesIn(kHardtanhDtypes, {kSelf}), ScalarDtypesIn(kHardtanhDtypes, {kMin, kMax}),
                   Custom(BoundsInOrder)),
              OfOneTensor(kSelf, out, OutDtype::kSame));
}
constexpr auto kHardtanhChecks = HardtanhChecks(kOut);
constexpr auto kInplaceHardtanhChecks = HardtanhChecks(kSelf);

void SetHardtanh(const OperatorCall& call, Executor& executor) {
  engine::Scalars scalars;
  for (const int i : {kMin, kMax})
    SetMapScalar(call, ClampKernels(), call.Scalar(i), scalars, i, call.promoted);
  SetMapJob(call, {kSelf}, call.Output(), ClampKernels(), scalars, executor);
}

enum HardtanhGradient { kGiven, kOperand, kResult };
constexpr auto kHardtanhBackwardChecks =
    Join(List(NotNull(kOperand), NotNull(kGiven), NotNull(kResult), ScalarNotNull(kMin), ScalarNotNull(kMax),
              DtypesIn(kBf16SinceAtlasA2, {kGiven, kOperand, kResult}), SameDtype(kGiven, kOperand),
              RankAtMost(8, {kGiven, kOperand}), SameShape(kGiven, kOperand), SameShape(kOperand, kResult),
              PromotesToDtypeOf(kOperand)),
         ComputableChecks({kGiven, kOperand}, kResult, {kMin, kMax}));

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnHardsigmoid) {
  return RunPhase1(call, kHardsigmoidChecks, workspaceSize, executor, SetActivation<kHardsigmoid, kSelf>);
}

PORTACL_PHASE_1(aclnnInplaceHardsigmoid) {
  return RunPhase1(call, kInplaceHardsigmoidChecks, workspaceSize, executor,
                   SetActivation<kHardsigmoid, kSelf>);
}

PORTACL_PHASE_1(aclnnHardsigmoidBackward) {
  return RunPhase1(call, kHardsigmoidBackwardChecks, workspaceSize, executor,
                   SetActivation<kHardsigmoidSlope, kGradOutput, kInput>);
}

PORTACL_PHASE_1(aclnnHardswish) {
  return RunPhase1(call, kHardswishChecks, workspaceSize, executor, SetActivation<kHardswish, kSelf>);
}

PORTACL_PHASE_1(aclnnInplaceHardswish) {
  return RunPhase1(call, kInplaceHardswishChecks, workspaceSize, executor, SetActivation<kHardswish, kSelf>);
}

PORTACL_PHASE_1(aclnnHardswishBackward) {
  return RunPhase1(call, kHardswishBackwardChecks, workspaceSize, executor, SetHardswishBackward);
}

PORTACL_PHASE_1(aclnnHardswishBackwardV2) {
  return RunPhase1(call, kHardswishBackwardChecks, workspaceSize, executor, SetHardswishBackwardV2);
}

PORTACL_PHASE_1(aclnnHardtanh) {
  return RunPhase1(call, kHardtanhChecks, workspaceSize, executor, SetHardtanh);
}

PORTACL_PHASE_1(aclnnInplaceHardtanh) {
  return RunPhase1(call, kInplaceHardtanhChecks, workspaceSize, executor, SetHardtanh);
}

PORTACL_PHASE_1(aclnnHardtanhBackward) {
  return RunPhase1(call, kHardtanhBackwardChecks, workspaceSize, executor,
                   SetActivation<kHardtanhSlope, kGiven, kOperand>);
}

#endif  // HWY_ONCE
