// aclnnL1LossBackward: gradInput = sign(self - target) * (gradOutput * c), c = 1 / numel(R) for mean, else 1.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/l1_loss_backward.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Computes s * (gradOutput * c) with s in {+1, 0, -1}. s really multiplies, so that 0 * inf is NaN and zeros
// keep their sign. NaN in self or target compares false twice and gives s = 0.
struct L1LossBackward : engine::HWY_NAMESPACE::Elementwise<L1LossBackward> {
  using Parameters = engine::FactorAlone;
  static constexpr int kInputs = 3;
  static constexpr bool kHasFastPath = true;

  explicit L1LossBackward(const Parameters& parameters) : c(parameters.c) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradOutput, V self, V target) const {
    const V zero = hn::Zero(d);
    const V s = hn::IfThenElse(hn::Gt(self, target), hn::Set(d, 1.0f),
                               hn::IfThenElse(hn::Lt(self, target), hn::Set(d, -1.0f), zero));
    return hn::Mul(s, hn::Mul(gradOutput, hn::Set(d, c)));
  }

  float c;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/loss/l1_loss_backward_functions.h"
#include "aclnnop/phase1.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kGradOutput, kSelf, kTarget, kGradInput };
enum Attributes { kReduction };

constexpr Check kChecks[] = {
    NotNull(kGradOutput),
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kGradInput),
    IntegerIn(kReduction, 0, 2),
    Promotes({kGradOutput, kSelf, kTarget}),
    PromotedCastsTo(kGradInput),
    PromotedIn(kBf16SinceAtlasA2, {kGradOutput, kSelf, kTarget}),
    RankAtMost(8, {kSelf, kTarget, kGradOutput, kGradInput}),
    Broadcasts({kSelf, kGradOutput, kTarget}),
    ShapeIsBroadcast(kGradInput),
    SizesRepresentable({kGradInput}),
    DoneIfEmpty({kSelf, kGradOutput, kTarget}),
    InsideStorage({kGradOutput, kSelf, kTarget}),
    DtypeImplemented({kGradOutput, kSelf, kTarget}, kReadable),
    DtypeImplemented({kGradInput}, kWritable),
};

constexpr auto kKernels = PORTACL_VALUE_KERNELS(L1LossBackward);

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnL1LossBackward) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    SetElementwiseJob(checked, {kGradOutput, kSelf, kTarget}, kGradInput, kKernels.For(checked.isa),
                      engine::FactorAlone{ReductionFactor(given.reduction, checked.broadcast)}, fresh);
  });
}

#endif  // HWY_ONCE
