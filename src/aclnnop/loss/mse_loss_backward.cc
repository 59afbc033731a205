// aclnnMseLossBackward: out = ((self - target) * c) * gradOutput, c = 2 / numel(self) for mean, else 2.
// SPDX-License-Identifier: Apache-2.0

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/mse_loss_backward.cc"
#include "base/foreach_target.h"

#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct MseLossBackward : engine::HWY_NAMESPACE::Elementwise<MseLossBackward> {
  using Parameters = engine::FactorAlone;
  static constexpr int kInputs = 3;
  static constexpr bool kHasFastPath = true;

  explicit MseLossBackward(const Parameters& parameters) : c(parameters.c) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V gradOutput, V self, V target) const {
    return hn::Mul(hn::Mul(hn::Sub(self, target), hn::Set(d, c)), gradOutput);
  }

  float c;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/loss/mse_loss_backward_functions.h"
#include "aclnnop/phase1.h"
#include "engine/map/dispatch.h"

namespace portacl {
namespace {

enum Tensors { kGradOutput, kSelf, kTarget, kOut };
enum Attributes { kReduction };

constexpr Check kChecks[] = {
    NotNull(kGradOutput),
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kOut),
    SameDtype(kSelf, kGradOutput),
    SameDtype(kSelf, kTarget),
    DtypesIn(kBf16SinceAtlasA2, {kSelf, kOut}),
    IntegerIn(kReduction, 0, 2),
    RankAtMost(8, {kGradOutput, kSelf, kTarget}),
    Broadcasts({kGradOutput, kSelf, kTarget}),
    ShapeIsBroadcast(kOut),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kGradOutput, kSelf, kTarget}),
    InsideStorage({kGradOutput, kSelf, kTarget}),
};

constexpr auto kKernels = PORTACL_VALUE_KERNELS(MseLossBackward);

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMseLossBackward) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    // The mean counts self's elements before it is broadcast. Doubling is exact.
    SetElementwiseJob(checked, {kGradOutput, kSelf, kTarget}, kOut, kKernels.For(checked.isa),
                      engine::FactorAlone{2.0f * ReductionFactor(given.reduction, given.self->shape)}, fresh);
  });
}

#endif  // HWY_ONCE
