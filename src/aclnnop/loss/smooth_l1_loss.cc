// aclnnSmoothL1Loss: with d = self - target, l = (d / 2) * (d / beta) where |d| < beta, else |d| - beta / 2;
// result = l, or the sum of all of it times c; c = 1 / numel(R) for mean, else 1.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/smooth_l1_loss.cc"
#include "base/foreach_target.h"

#include "engine/reduction/sum_loop-inl.h"

#ifndef PORTACL_SMOOTH_L1_LOSS_PARAMETERS
#define PORTACL_SMOOTH_L1_LOSS_PARAMETERS
namespace portacl {
struct SmoothL1LossParameters {
  float beta;
};
}  // namespace portacl
#endif

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// The order of operations neither overflows nor underflows before the division, for any beta. d / beta is
// also the factor of the gradient. A NaN d compares false and stays NaN.
struct SmoothL1Loss : engine::HWY_NAMESPACE::Summable<SmoothL1Loss> {
  using Parameters = SmoothL1LossParameters;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;

  explicit SmoothL1Loss(const Parameters& parameters) : beta(parameters.beta) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V self, V target) const {
    const V half = hn::Set(d, 0.5f);
    const V difference = hn::Sub(self, target);
    const V magnitude = hn::Abs(difference);
    const V square = hn::Mul(hn::Mul(half, difference), hn::Div(difference, hn::Set(d, beta)));
    const V linear = hn::Sub(magnitude, hn::Mul(half, hn::Set(d, beta)));
    return hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, beta)), square, linear);
  }

  float beta;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/loss/smooth_l1_loss_functions.h"
#include "aclnnop/phase1.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kTarget, kResult };
enum Attributes { kReduction, kBeta };

// 561103 for a 0-dim result in format NCHW: CANN gives the computed result that format, which needs four
// dims.
aclnnStatus CheckFormat(const Check&, OperatorCall& call) noexcept {
  const aclTensor& result = call.Tensor(kResult);
  if (result.shape.rank != 0 || result.format != ACL_FORMAT_NCHW) return ACL_SUCCESS;
  Text message(call.api, ": parameter result with shape [] has the format ");
  AddFormatName(message, result.format);
  return FailAclnn(ACLNN_ERR_INNER_NULLPTR, message.Add(", accepted: ND."));
}

// The shape of a reduced result is checked only when it is written.
constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kResult),
    DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget}),
    Promotes({kSelf, kTarget}),
    PromotedCastsTo(kResult),
    IntegerIn(kReduction, 0, 2),
    RankAtMost(8, {kSelf, kTarget}),
    Broadcasts({kSelf, kTarget}),
    IfNone(kReduction, ShapeIsBroadcast(kResult)),
    NotNegative(kBeta),
    SizesRepresentable({kResult}),
    IfNone(kReduction, DoneIfEmpty({kSelf, kTarget})),
    DtypeImplemented({kResult}, kWritable),
    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kResult})),
    InsideStorage({kSelf, kTarget}),
    {.run = CheckFormat},
    IfReduced(kReduction, OneElement(kResult, ACLNN_ERR_INNER_NULLPTR)),
};

constexpr auto kKernels = PORTACL_KERNELS(SmoothL1Loss);

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnSmoothL1Loss) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const Shape scalar;
    const float c = ReductionFactor(given.reduction, checked.broadcast);
    SetJob(checked, given.reduction == kReductionNone ? nullptr : &scalar, {kSelf, kTarget}, kResult, c,
           kKernels.For(checked.isa), SmoothL1LossParameters{given.beta}, fresh);
  });
}

#endif  // HWY_ONCE
