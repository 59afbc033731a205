// aclnnHardshrink, aclnnSoftshrink, their gradients, and aclnnShrink: elements near 0 become 0.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/activations/shrink.cc"
#include "base/foreach_target.h"

#include "aclnnop/jobs/activation_formulas-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace shrink {

// Number: the bound; a negative one counts as 0. NaN stays NaN.
struct Hardshrink : Activation<Hardshrink, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V bound = hn::Set(d, Number(0) < 0 ? 0.0f : Number(0));
    return hn::IfThenZeroElse(hn::Le(hn::Abs(x), bound), x);
  }
};

// The slope of both functions. The gradient passes where x is NaN.
struct ShrinkSlope : Activation<ShrinkSlope, 2> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradient, V x) const {
    const V bound = hn::Set(d, Number(0) < 0 ? 0.0f : Number(0));
    return hn::IfThenZeroElse(hn::Le(hn::Abs(x), bound), gradient);
  }
};

// NaN becomes 0.
struct Softshrink : Activation<Softshrink, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V bound = Set(d, 0);
    const V below = hn::IfThenElseZero(hn::Lt(x, hn::Neg(bound)), hn::Add(x, bound));
    return hn::IfThenElse(hn::Gt(x, bound), hn::Sub(x, bound), below);
  }
};

// Numbers: the bound, and what brings nearer. NaN becomes 0.
struct Shrink : Activation<Shrink, 1> {
  static constexpr bool kTakes16BitFloats = true;
  using Activation::Activation;

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    const V bound = Set(d, 0);
    const V bias = Set(d, 1);
    const V below = hn::IfThenElseZero(hn::Lt(x, hn::Neg(bound)), hn::Add(x, bias));
    return hn::IfThenElse(hn::Gt(x, bound), hn::Sub(x, bias), below);
  }
};

}  // namespace shrink
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/activations/activation.h"
#include "aclnnop/activations/shrink_functions.h"
#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

constexpr auto kHardshrink = PORTACL_VALUE_KERNELS(shrink::Hardshrink);
constexpr auto kShrinkSlope = PORTACL_VALUE_KERNELS(shrink::ShrinkSlope);
constexpr auto kSoftshrink = PORTACL_VALUE_KERNELS(shrink::Softshrink);
constexpr auto kShrink = PORTACL_VALUE_KERNELS(shrink::Shrink);

enum Unary { kSelf, kOut };
enum Gradient { kGradOutput, kInput, kGradInput };

constexpr auto kHardshrinkChecks = Join(List(NotNull(kSelf), ScalarNotNull(0), NotNull(kOut),
                                             DtypesIn(kBf16On200I, {kSelf, kOut}), RankAtMost(8, {kSelf})),
                                        OfOneTensorOfAnyRank(kSelf, kOut, {0}));

// An empty tensor returns before shapes are checked.
constexpr auto kHardshrinkBackwardChecks =
    Join(List(NotNull(kGradOutput), NotNull(kInput), ScalarNotNull(0), NotNull(kGradInput),
              DtypesIn(kBf16SinceAtlasA2, {kGradOutput, kInput, kGradInput}), Promotes({kGradOutput, kInput}),
              RankAtMost(8, {kGradOutput, kInput, kGradInput}), DoneIfEmpty({kGradOutput, kInput})),
         BroadcastsInto({kGradOutput, kInput}, kGradInput),
         ComputableChecks({kGradOutput, kInput}, kGradInput, {0}));

aclnnStatus BoundNotNegative(const Check& check, OperatorCall& call) noexcept {
  const float bound = FloatsOf(call).Get<float>(0);
  if (!(bound < 0)) return ACL_SUCCESS;
  return RefuseNumber(check, call, 0, bound, "0 or more");
}

constexpr auto kSoftshrinkChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(0), NotNull(kOut), DtypesIn(kBf16SinceAtlasA2, {kSelf, kOut}),
              RankAtMost(8, {kSelf}), Custom(BoundNotNegative)),
         OfOneTensorOfAnyRank(kSelf, kOut, {0}));

constexpr auto kShrinkChecks =
    Join(List(NotNull(kSelf), ScalarNotNull(0), ScalarNotNull(1), NotNull(kOut),
              DtypesIn(kFloatAndHalf, {kSelf, kOut}), Custom(BoundNotNegative), RankAtMost(8, {kSelf})),
         OfOneTensorOfAnyRank(kSelf, kOut, {0, 1}));

// CANN copies the result without a conversion.
aclnnStatus ResultIsComputed(const Check& check, OperatorCall& call) noexcept {
  if (call.Tensor(kGradInput).dtype == call.promoted) return ACL_SUCCESS;
  Text message = StartMessage(call);
  AddArgumentDtype(message.Add("parameter "), call, kGradInput).Add(" cannot take the result, accepted: ");
  AddDtypeName(message, call.promoted);
  return FailAclnn(check.code, message.Add("."));
}
bool DtypesDiffer(const OperatorCall& call) noexcept {
  return call.Tensor(kGradOutput).dtype != call.Tensor(kInput).dtype;
}

constexpr auto kSoftshrinkBackwardChecks = Join(
    List(NotNull(kGradOutput), NotNull(kInput), ScalarNotNull(0), NotNull(kGradInput),
         DtypesIn(kBf16On200I, {kGradOutput, kInput, kGradInput}), Custom(BoundNotNegative)),
    BroadcastChecks(kGradOutput, kInput, kGradInput),
    List(SizesRepresentable({kGradInput}), DoneIfEmpty({kGradOutput, kGradInput}), PromotesToDtypeOf(kInput),
         If(DtypesDiffer, PromotesTo(ACL_FLOAT)), Custom(ResultIsComputed, ACLNN_ERR_INNER_NULLPTR)),
    ComputableChecks({kGradOutput, kInput}, kGradInput, {0}));

}  // namespace
}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnHardshrink) {
  return RunPhase1(call, kHardshrinkChecks, workspaceSize, executor, SetActivation<kHardshrink, kSelf>);
}

PORTACL_PHASE_1(aclnnHardshrinkBackward) {
  return RunPhase1(call, kHardshrinkBackwardChecks, workspaceSize, executor,
                   SetActivation<kShrinkSlope, kGradOutput, kInput>);
}

PORTACL_PHASE_1(aclnnSoftshrink) {
  return RunPhase1(call, kSoftshrinkChecks, workspaceSize, executor, SetActivation<kSoftshrink, kSelf>);
}

PORTACL_PHASE_1(aclnnShrink) {
  return RunPhase1(call, kShrinkChecks, workspaceSize, executor, SetActivation<kShrink, kSelf>);
}

PORTACL_PHASE_1(aclnnSoftshrinkBackward) {
  return RunPhase1(call, kSoftshrinkBackwardChecks, workspaceSize, executor,
                   SetActivation<kShrinkSlope, kGradOutput, kInput>);
}

#endif  // HWY_ONCE
