// Planning of elementwise loops (see loop_plan.h).
// SPDX-License-Identifier: Apache-2.0
#include "plan/loop_plan.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/data_type.h"

namespace portacl {
namespace {

// Sets the strides of an operand over the listed axes of `shape`, in bytes. They are 0 where the operand is
// broadcast.
void BroadcastStrides(const Shape& shape, std::span<const int> axes, const StridedView& tensor,
                      OperandLoop& loop) {
  const Shape strides = tensor.is_dense ? RowMajorStrides(tensor.shape) : tensor.strides;
  const int missing = shape.rank - tensor.shape.rank;
  loop.element_size = static_cast<int32_t>((StorageBits(tensor.dtype) + 7) / 8);
  loop.offset = ByteOffset(tensor);
  // The strides of a tensor without elements may be any numbers.
  const bool is_empty = tensor.shape.IsEmpty();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int own = axes[i] - missing;
    const bool walks = own >= 0 && tensor.shape[own] != 1 && !is_empty;
    loop.stride[i] = walks ? strides[own] * loop.element_size : 0;
  }
}

void RemoveDim(LoopPlan& plan, int axis) {
  for (int i = axis; i + 1 < plan.rank; ++i) {
    plan.extent[i] = plan.extent[i + 1];
    for (int k = 0; k < plan.operand_count; ++k) plan.operand[k].stride[i] = plan.operand[k].stride[i + 1];
  }
  --plan.rank;
}

void SwapDims(LoopPlan& plan, int a, int b) {
  std::swap(plan.extent[a], plan.extent[b]);
  for (int k = 0; k < plan.operand_count; ++k)
    std::swap(plan.operand[k].stride[a], plan.operand[k].stride[b]);
}

int64_t Magnitude(int64_t stride) { return stride < 0 ? -stride : stride; }

// Tells whether dim `inner` should lie inside dim `outer`. The output decides; where it has no preference,
// the first input that has one decides.
bool BelongsInside(const LoopPlan& plan, int inner, int outer) {
  for (int k = plan.operand_count - 1, seen = 0; seen < plan.operand_count; ++seen, k = seen - 1) {
    const int64_t a = Magnitude(plan.operand[k].stride[inner]);
    const int64_t b = Magnitude(plan.operand[k].stride[outer]);
    if (a != 0 && b != 0 && a != b) return a < b;
  }
  return false;
}

// Reverses dims so that the output's address grows along every dim.
void FlipToOutput(LoopPlan& plan) {
  const OperandLoop& output = plan.operand[plan.operand_count - 1];
  for (int axis = 0; axis < plan.rank; ++axis) {
    if (output.stride[axis] >= 0) continue;
    for (int k = 0; k < plan.operand_count; ++k) {
      OperandLoop& operand = plan.operand[k];
      operand.offset += operand.stride[axis] * (plan.extent[axis] - 1);
      operand.stride[axis] = -operand.stride[axis];
    }
  }
}

bool CanMerge(const LoopPlan& plan, int outer) {
  for (int k = 0; k < plan.operand_count; ++k) {
    const int64_t* stride = plan.operand[k].stride;
    // The stride past the inner dim may overflow, though no element lies there. The dims then cannot be
    // merged.
    int64_t continued = 0;
    if (__builtin_mul_overflow(stride[outer + 1], plan.extent[outer + 1], &continued)) return false;
    if (stride[outer] != continued) return false;
  }
  return true;
}

void SetLinear(const LoopPlan& plan, OperandLoop& operand) {
  operand.linear_stride = operand.stride[plan.rank - 1];
  operand.linear = true;
  int64_t step = operand.linear_stride;
  for (int axis = plan.rank - 2; axis >= 0 && operand.linear; --axis) {
    operand.linear =
        !__builtin_mul_overflow(step, plan.extent[axis + 1], &step) && operand.stride[axis] == step;
  }
}

void SetLinear(LoopPlan& plan) {
  for (int k = 0; k < plan.operand_count; ++k) SetLinear(plan, plan.operand[k]);
}

// Starts a plan over the listed axes in their order, without those of length 1.
LoopPlan StartPlan(const Shape& shape, std::span<const int> axes,
                   std::span<const StridedView* const> operands) {
  LoopPlan plan;
  plan.rank = static_cast<int>(axes.size());
  plan.operand_count = static_cast<int>(operands.size());
  for (size_t i = 0; i < axes.size(); ++i) {
    plan.extent[i] = shape[axes[i]];
    plan.count *= plan.extent[i];
  }
  for (size_t k = 0; k < operands.size(); ++k) BroadcastStrides(shape, axes, *operands[k], plan.operand[k]);
  for (int axis = plan.rank - 1; axis >= 0; --axis) {
    if (plan.extent[axis] == 1) RemoveDim(plan, axis);
  }
  if (plan.rank == 0) {
    plan.rank = 1;
    plan.extent[0] = 1;
    for (int k = 0; k < plan.operand_count; ++k) plan.operand[k].stride[0] = 0;
  }
  return plan;
}

void MergeDims(LoopPlan& plan) {
  for (int axis = plan.rank - 2; axis >= 0; --axis) {
    if (!CanMerge(plan, axis)) continue;
    plan.extent[axis + 1] *= plan.extent[axis];
    RemoveDim(plan, axis);
  }
}

// Tells whether an operand is dense along dim `across`, and neither dense nor broadcast along dim `along`.
bool IsTransposed(const OperandLoop& operand, int across, int along) {
  return operand.stride[across] == operand.element_size && operand.stride[along] != operand.element_size &&
         operand.stride[along] != 0;
}

int TransposedOperands(const LoopPlan& plan, int across, int along) {
  int count = 0;
  for (int k = 0; k < plan.operand_count; ++k) count += IsTransposed(plan.operand[k], across, along) ? 1 : 0;
  return count;
}

// Shorter dims do not repay a transposed tile.
constexpr int64_t kShortestTransposition = 16;

// Finds operands that are dense along another dim than the last, and takes the dim that most of them share.
// That dim becomes the last but one. Of the last two dims, the one along which more operands are dense
// becomes the last.
void FindTransposition(LoopPlan& plan) {
  const int last = plan.rank - 1;
  int across = -1;
  int most = 0;
  for (int axis = 0; axis < last; ++axis) {
    const int count = plan.extent[axis] >= kShortestTransposition ? TransposedOperands(plan, axis, last) : 0;
    if (count > most) {
      most = count;
      across = axis;
    }
  }
  if (across < 0 || plan.extent[last] < kShortestTransposition) return;
  for (int axis = across; axis < last - 1; ++axis) SwapDims(plan, axis, axis + 1);
  if (TransposedOperands(plan, last, last - 1) < most) SwapDims(plan, last - 1, last);
  for (int k = 0; k < plan.operand_count; ++k) {
    plan.operand[k].transposed = IsTransposed(plan.operand[k], last - 1, last);
    plan.has_transposed = plan.has_transposed || plan.operand[k].transposed;
  }
}

}  // namespace

int64_t LoopPlan::BytesWalked() const noexcept {
  int64_t bytes = 0;
  for (int k = 0; k < operand_count; ++k) {
    int64_t distinct = operand[k].element_size;
    for (int axis = 0; axis < rank; ++axis) {
      if (operand[k].stride[axis] != 0 && __builtin_mul_overflow(distinct, extent[axis], &distinct))
        return std::numeric_limits<int64_t>::max();
    }
    if (__builtin_add_overflow(bytes, distinct, &bytes)) return std::numeric_limits<int64_t>::max();
  }
  return bytes;
}

LoopPlan PlanElementwise(const Shape& shape, std::span<const StridedView* const> operands) noexcept {
  int axes[kMaxLoopRank];
  for (int i = 0; i < shape.rank; ++i) axes[i] = i;
  LoopPlan plan = StartPlan(shape, {axes, static_cast<size_t>(shape.rank)}, operands);
  FlipToOutput(plan);
  // Insertion sort: stable, and at most 8 dims.
  for (int i = 1; i < plan.rank; ++i) {
    for (int j = i; j > 0 && BelongsInside(plan, j - 1, j); --j) SwapDims(plan, j - 1, j);
  }
  MergeDims(plan);
  FindTransposition(plan);
  SetLinear(plan);
  return plan;
}

MergedLoop MergeLoop(const Shape& shape, std::span<const StridedView* const> operands) noexcept {
  MergedLoop merged;
  int rank = 0;
  int64_t stride[kMaxLoopOperands] = {};
  for (int axis = 0; axis < shape.rank; ++axis) {
    const int64_t extent = shape[axis];
    if (extent == 1) continue;
    bool continues = rank > 0;
    for (size_t k = 0; k < operands.size(); ++k) {
      const StridedView& tensor = *operands[k];
      const Shape strides = IsContiguous(tensor) ? RowMajorStrides(tensor.shape) : tensor.strides;
      const int own = axis - (shape.rank - tensor.shape.rank);
      stride[k] = own >= 0 && tensor.shape[own] != 1 ? strides[own] : 0;
      int64_t row = 0;
      continues = continues && !__builtin_mul_overflow(stride[k], extent, &row) &&
                  merged.operand[k].strides[rank - 1] == row;
    }
    if (!continues) merged.shape.dim[rank++] = 1;
    merged.shape.dim[rank - 1] *= extent;
    for (size_t k = 0; k < operands.size(); ++k) merged.operand[k].strides.dim[rank - 1] = stride[k];
  }
  merged.shape.rank = rank;
  for (size_t k = 0; k < operands.size(); ++k) {
    StridedView& tensor = merged.operand[k];
    tensor.dtype = operands[k]->dtype;
    tensor.offset = operands[k]->offset;
    tensor.shape = merged.shape;
    tensor.strides.rank = rank;
  }
  return merged;
}

LoopPlan PlanInOrder(const Shape& shape, std::span<const int> axes,
                     std::span<const StridedView* const> operands) noexcept {
  LoopPlan plan = StartPlan(shape, axes, operands);
  MergeDims(plan);
  SetLinear(plan);
  return plan;
}

OperandLoop LoopOfUnbroadcast(const LoopPlan& plan, int operand, int32_t size) noexcept {
  OperandLoop walk;
  walk.element_size = size;
  int64_t step = size;
  for (int axis = plan.rank - 1; axis >= 0; --axis) {
    const bool repeated = plan.operand[operand].stride[axis] == 0;
    walk.stride[axis] = repeated ? 0 : step;
    if (!repeated) step *= plan.extent[axis];
  }
  SetLinear(plan, walk);
  return walk;
}

LoopPlan PlanUnbroadcast(const LoopPlan& plan, int operand, int32_t size) noexcept {
  LoopPlan distinct;
  distinct.operand_count = 2;
  distinct.operand[0].offset = plan.operand[operand].offset;
  distinct.operand[0].element_size = plan.operand[operand].element_size;
  distinct.operand[1] = LoopOfUnbroadcast(plan, operand, size);
  int rank = 0;
  for (int axis = 0; axis < plan.rank; ++axis) {
    if (plan.operand[operand].stride[axis] == 0) continue;
    distinct.extent[rank] = plan.extent[axis];
    distinct.count *= plan.extent[axis];
    distinct.operand[0].stride[rank] = plan.operand[operand].stride[axis];
    distinct.operand[1].stride[rank] = distinct.operand[1].stride[axis];
    ++rank;
  }
  if (rank == 0) distinct.operand[0].stride[0] = distinct.operand[1].stride[0] = 0;
  distinct.rank = std::max(rank, 1);
  MergeDims(distinct);
  SetLinear(distinct);
  return distinct;
}

}  // namespace portacl
