// aclnnMseLossOut: out = (self - target)^2, or its sum over the first axis of R times c; c = 1 / R[0] for mean,
// else 1.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/loss/mse_loss_out_functions.h"

#include "aclnn/opdev/op_errno.h"
#include "aclnnop/loss/squared_difference.h"
#include "aclnnop/phase1.h"
#include "base/errors.h"

namespace portacl {
namespace {

enum Tensors { kSelf, kTarget, kOut };
enum Attributes { kReduction };

// Returns R without its first axis; a scalar stays a scalar.
Shape WithoutFirstAxis(const Shape& shape) {
  Shape rest;
  rest.rank = shape.rank == 0 ? 0 : shape.rank - 1;
  for (int axis = 0; axis < rest.rank; ++axis) rest.dim[axis] = shape[axis + 1];
  return rest;
}

aclnnStatus CheckReducedShape(const Check&, OperatorCall& call) noexcept {
  const Shape accepted = WithoutFirstAxis(call.broadcast);
  if (call.Tensor(kOut).shape == accepted) return ACL_SUCCESS;
  Text message(call.api, ": parameter out with shape ");
  AddShape(message, call.Tensor(kOut).shape);
  message.Add(" differs from the broadcast shape of the inputs without its first dim, accepted: ");
  AddShape(message, accepted);
  return FailAclnn(ACLNN_ERR_PARAM_INVALID, message.Add("."));
}

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
    IfReduced(kReduction, {.run = CheckReducedShape}),
    SizesRepresentable({kOut}),
    DoneIfEmpty({kSelf, kTarget}),
    InsideStorage({kSelf, kTarget}),
};

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnMseLossOut) {
  return RunPhase1(call, kChecks, workspaceSize, executor, [&](const OperatorCall& checked, Executor& fresh) {
    Shape kept = checked.broadcast;
    if (kept.rank > 0) kept.dim[0] = 1;
    const float c =
        given.reduction == kReductionMean && kept.rank > 0 ? MeanFactor(checked.broadcast[0]) : 1.0f;
    SetJob(checked, given.reduction == kReductionNone ? nullptr : &kept, {kSelf, kTarget}, kOut, c,
           SquaredDifferenceKernels(checked.isa), engine::NoParameters{}, fresh);
  });
}
