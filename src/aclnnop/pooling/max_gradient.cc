// The gradient of maxima (see max_gradient.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/pooling/max_gradient.h"

#include "aclnnop/pooling/windows.h"
#include "plan/views.h"

namespace portacl {

void SetMaxGradient(const OperatorCall& call, const MaxGradientOperands& operands, const aclTensor& places,
                    Executor& executor) {
  const aclTensor gradient = PoolView(call.Tensor(operands.gradient), operands.axes);
  const aclTensor result = PoolView(call.Tensor(operands.result), operands.axes);
  StepList steps(executor, 3);
  // A place is one number for all axes: they have to follow each other in memory.
  const int64_t of_rows = result.view[4] * result.strides[4];
  const bool is_direct = result.dtype == ACL_FLOAT && (result.view[3] == 1 || result.strides[3] == of_rows) &&
                         (result.view[2] == 1 || result.strides[2] == result.view[3] * of_rows);
  const aclTensor sums = is_direct ? result : DenseTensor(result.view, ACL_FLOAT);
  const engine::Place sums_place =
      is_direct ? OperandPlace(operands.result) : steps.Workspace(result.numel * int64_t{sizeof(float)});
  steps.Fill(sums, sums_place, steps.Value({}));
  aclTensor target = sums;
  target.view = gradient.view;
  for (int dim = 2; dim < 5; ++dim) target.strides.dim[dim] = 0;
  const int64_t plane = result.view[2] * result.view[3] * result.view[4];
  const engine::IndexView named{&places, operands.places, call.Name(operands.places), -1, false,
                                plane,   sums.strides[4]};
  steps.Indexed(engine::IndexedAction::kAdd, gradient, OperandPlace(operands.gradient), target, sums_place,
                &named, 1);
  if (!is_direct) steps.Copy(sums, sums_place, result, OperandPlace(operands.result));
  steps.SetJob();
}

void SetGradientOfElements(const OperatorCall& call, const MaxGradientOperands& operands,
                           const int64_t* steps, Executor& executor) {
  const aclTensor gradient = PoolView(call.Tensor(operands.gradient), operands.axes);
  const aclTensor result = PoolView(call.Tensor(operands.result), operands.axes);
  StepList list(executor, 2);
  list.Fill(result, OperandPlace(operands.result), list.Value({}));
  aclTensor target = result;
  for (int axis = 0; axis < 2; ++axis) Narrow(target, 3 + axis, 0, gradient.view[3 + axis], steps[axis]);
  list.Copy(gradient, OperandPlace(operands.gradient), target, OperandPlace(operands.result));
  list.SetJob();
}

}  // namespace portacl
