// aclnnMseLoss: out = (self - target)^2, or the sum of all of it times c; c = 1 / numel(R) for mean, else 1.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/loss/mse_loss_functions.h"

#include "aclnnop/loss/squared_difference.h"
#include "aclnnop/phase1.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kTarget, kOut };
enum Attributes { kReduction };

constexpr Check kChecks[] = {
    NotNull(kSelf),
    NotNull(kTarget),
    NotNull(kOut),
    Promotes({kSelf, kTarget}),
    PromotedIn(kBf16SinceAtlasA2, {kSelf, kTarget}),
    DtypesIn(kBf16SinceAtlasA2, {kSelf, kTarget, kOut}),
    IntegerIn(kReduction, 0, 2),
    RankAtMost(8, {kSelf, kTarget}),
    Broadcasts({kSelf, kTarget}),
    IfNone(kReduction, ShapeIsBroadcast(kOut)),
    IfReduced(kReduction, IsScalar(kOut)),
    SizesRepresentable({kOut}),
    IfNone(kReduction, DoneIfEmpty({kSelf, kTarget})),
    IfReduced(kReduction, NoTermsIfEmpty({kSelf, kTarget, kOut})),
    InsideStorage({kSelf, kTarget}),
};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMseLoss) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    const Shape scalar;
    const float c = ReductionFactor(given.reduction, checked.broadcast);
    SetJob(checked, given.reduction == kReductionNone ? nullptr : &scalar, {kSelf, kTarget}, kOut, c,
           SquaredDifferenceKernels(checked.isa), engine::NoParameters{}, fresh);
  });
}
