// Planning of copies (see move_plan.h).
// SPDX-License-Identifier: Apache-2.0
#include "plan/move_plan.h"

#include <algorithm>

namespace portacl {
namespace {

int64_t Magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

void SetLinear(LoopPlan& plan, OperandLoop& operand) {
  operand.linear = plan.rank == 1;
  operand.linear_stride = operand.stride[plan.rank - 1];
}

// Turns rows that are dense in both operands into single elements.
void WidenElements(LoopPlan& plan) {
  OperandLoop& source = plan.operand[kMoveSource];
  OperandLoop& destination = plan.operand[kMoveDestination];
  while (plan.rank > 1) {
    const int last = plan.rank - 1;
    const int32_t size = destination.element_size;
    if (source.stride[last] != size || destination.stride[last] != size) return;
    if (plan.extent[last] > kWidestMove / size) return;
    source.element_size = destination.element_size = static_cast<int32_t>(plan.extent[last]) * size;
    plan.count /= plan.extent[last];
    --plan.rank;
  }
}

// Moves the dim along which the source's elements lie closest together to the last but one position, unless
// it is the last.
void PutSourceBeside(LoopPlan& plan) {
  const int last = plan.rank - 1;
  const int64_t* const stride = plan.operand[kMoveSource].stride;
  int closest = last;
  for (int axis = 0; axis < last; ++axis) {
    if (stride[axis] == 0) continue;
    if (stride[closest] == 0 || Magnitude(stride[axis]) < Magnitude(stride[closest])) closest = axis;
  }
  if (closest == last) return;
  for (int axis = closest; axis < last - 1; ++axis) {
    std::swap(plan.extent[axis], plan.extent[axis + 1]);
    for (OperandLoop* operand : {&plan.operand[kMoveSource], &plan.operand[kMoveDestination]})
      std::swap(operand->stride[axis], operand->stride[axis + 1]);
  }
}

}  // namespace

LoopPlan PlanMove(const Shape& shape, const StridedView& source, const StridedView& destination,
                  bool same_bytes) noexcept {
  const StridedView* const operands[] = {&source, &destination};
  LoopPlan plan = PlanElementwise(shape, operands);
  if (plan.rank > 1) {
    if (same_bytes) WidenElements(plan);
    if (plan.rank > 1) PutSourceBeside(plan);
  }
  SetLinear(plan, plan.operand[kMoveSource]);
  SetLinear(plan, plan.operand[kMoveDestination]);
  return plan;
}

StridedView MergedDims(const StridedView& tensor) noexcept {
  StridedView merged = tensor;
  const Shape strides = IsContiguous(tensor) ? RowMajorStrides(tensor.shape) : tensor.strides;
  int rank = 0;
  for (int axis = 0; axis < tensor.shape.rank; ++axis) {
    const int64_t extent = tensor.shape[axis];
    if (extent == 1) continue;
    int64_t continued = 0;
    if (rank > 0 && !__builtin_mul_overflow(strides[axis], extent, &continued) &&
        merged.strides[rank - 1] == continued) {
      merged.shape.dim[rank - 1] *= extent;
    } else {
      merged.shape.dim[rank++] = extent;
    }
    merged.strides.dim[rank - 1] = strides[axis];
  }
  merged.shape.rank = merged.strides.rank = rank;
  return merged;
}

}  // namespace portacl
