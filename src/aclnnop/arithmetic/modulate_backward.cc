// aclnnModulateBackward: the gradients of aclnnModulate.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/arithmetic/modulate_backward_functions.h"

#include "aclnnop/jobs/dense_op_list.h"
#include "engine/route/row_gradients.h"

namespace portacl {
namespace {

using namespace dense;

enum Tensors { kGrad, kInput, kScale, kShift, kGradInput, kGradScale, kGradShift };

aclnnStatus ShapesFit(const Check& check, OperatorCall& call) noexcept {
  ShapeChecks checks(check, call);
  checks.Rank(kGrad, 3, 3);
  if (!checks.Passed()) return checks.status();
  const Shape& grad = call.Tensor(kGrad).shape;
  checks.Is(kInput, grad).Is(kGradInput, grad);
  for (const int tensor : {kScale, kShift, kGradScale, kGradShift}) {
    const Shape& shape = call.Tensor(tensor).shape;
    checks.Holds(shape == Shape{grad[0], grad[2]} || shape == Shape{grad[0], 1, grad[2]}, tensor,
                 "[B, D] or [B, 1, D]");
  }
  return checks.status();
}

constexpr auto kChecks =
    List(NotNull(kGrad), NotNull(kInput), NotNull(kScale), NotNull(kShift), NotNull(kGradInput),
         NotNull(kGradScale), NotNull(kGradShift), DtypesIn(kBf16SinceAtlasA2, {kGrad}),
         SameDtype(kGrad, kInput), SameDtype(kGrad, kScale), SameDtype(kGrad, kShift),
         SameDtype(kGrad, kGradInput), SameDtype(kGrad, kGradScale), SameDtype(kGrad, kGradShift),
         Custom(ShapesFit), SizesRepresentable({kGradInput, kGradScale, kGradShift}), DoneIfEmpty({kGrad}),
         InsideStorage({kGrad, kInput, kScale}));

void SetGradients(const OperatorCall& call, Executor& executor) {
  DenseOpList ops(call, executor);
  const Shape& grad = call.Tensor(kGrad).shape;
  engine::ScaledRowGradients gradients{};
  gradients.gradient = ops.Rows(kGrad);
  gradients.input = ops.Rows(kInput);
  gradients.scale = ops.Rows(kScale);
  gradients.to_input = ops.RowsOut(kGradInput);
  gradients.to_scale = ops.RowsOut(kGradScale);
  gradients.to_shift = ops.RowsOut(kGradShift);
  gradients.batches = grad[0];
  gradients.rows = grad[1];
  gradients.columns = grad[2];
  gradients.threads = ops.threads();
  ops.Compute(gradients,
              {gradients.gradient.buffer, gradients.input.buffer, gradients.scale.buffer,
               gradients.to_input.buffer, gradients.to_scale.buffer, gradients.to_shift.buffer},
              call.Tensor(kGrad).numel);
  ops.SetJob();
}

}  // namespace

}  // namespace portacl

using namespace portacl;

PORTACL_PHASE_1(aclnnModulateBackward) {
  return dense::RunOpList(call, kChecks, workspaceSize, executor, SetGradients);
}
