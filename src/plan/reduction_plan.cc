// Planning of sums over axes (see reduction_plan.h).
// SPDX-License-Identifier: Apache-2.0
#include "plan/reduction_plan.h"

#include <algorithm>

namespace portacl {
namespace {

// Limits the workspace and the number of chunks. The limit changes which thread computes what, never a
// result.
constexpr int64_t kMaxPartials = int64_t{1} << 16;
// A second thread does not pay off for fewer terms.
constexpr int64_t kMinTermsPerChunk = int64_t{1} << 15;

int64_t QuotientUp(int64_t dividend, int64_t divisor) {
  return dividend / divisor + (dividend % divisor != 0 ? 1 : 0);
}

// Avoids overflow: with strides of 0, sizes come near 2^63, so no product may exceed them.
void PlanChunks(ReductionPlan& plan) {
  const int64_t block = plan.in_lanes() ? kLaneBlock : kRowBlock;
  plan.blocks = QuotientUp(plan.reduced, block);
  const int64_t most = std::min(kMaxChunks, kMaxPartials / plan.outputs());
  const int64_t fewest_blocks = QuotientUp(QuotientUp(kMinTermsPerChunk, plan.inner), block);
  plan.chunk_blocks = 1;
  plan.chunks = plan.blocks;
  while (plan.chunks > 1 && (plan.chunks > most || plan.chunk_blocks < fewest_blocks)) {
    plan.chunk_blocks *= 2;
    plan.chunks = QuotientUp(plan.blocks, plan.chunk_blocks);
  }
  if (plan.chunks <= 1) {
    plan.chunks = 1;
    plan.chunk_blocks = std::max<int64_t>(plan.blocks, 1);
  }
}

}  // namespace

ReductionPlan PlanReduction(const Shape& terms_shape, const Shape& kept,
                            std::span<const StridedView* const> inputs, const StridedView& output) noexcept {
  ReductionPlan plan;
  const int missing = terms_shape.rank - kept.rank;
  const auto is_reduced = [&](int axis) {
    return terms_shape[axis] != 1 && (axis < missing || kept[axis - missing] == 1);
  };
  int last_reduced = -1;
  for (int axis = 0; axis < terms_shape.rank; ++axis) {
    if (is_reduced(axis)) last_reduced = axis;
  }
  int axes[kMaxLoopRank];
  int count = 0;
  for (int axis = 0; axis < last_reduced; ++axis) {
    if (is_reduced(axis)) continue;
    axes[count++] = axis;
    plan.outer *= terms_shape[axis];
  }
  const int first_row = count;
  bool is_empty = false;
  for (int axis = 0; axis <= last_reduced; ++axis) {
    if (is_reduced(axis)) is_empty = is_empty || terms_shape[axis] == 0;
  }
  if (is_empty) plan.reduced = 0;  // the product of the other reduced axes may be any number
  for (int axis = 0; axis <= last_reduced; ++axis) {
    if (!is_reduced(axis)) continue;
    axes[count++] = axis;
    if (!is_empty) plan.reduced *= terms_shape[axis];
  }
  const int first_column = count;
  for (int axis = last_reduced + 1; axis < terms_shape.rank; ++axis) {
    axes[count++] = axis;
    plan.inner *= terms_shape[axis];
  }

  // The output's rank may exceed that of the terms: a sum over everything may go to a tensor of many axes of
  // length 1.
  int output_axes[kMaxDims];
  int output_rank = 0;
  for (int axis = 0; axis < output.shape.rank; ++axis) {
    if (output.shape[axis] != 1) output_axes[output_rank++] = axis;
  }
  const StridedView* const only[] = {&output};
  plan.output = PlanInOrder(output.shape, {output_axes, static_cast<size_t>(output_rank)}, only);
  if (plan.reduced > 0) {
    const std::span<const int> walk(axes, static_cast<size_t>(count));
    plan.terms = PlanInOrder(terms_shape, walk, inputs);
    const LoopPlan rows = PlanInOrder(terms_shape, walk.subspan(first_row, first_column - first_row), inputs);
    const LoopPlan columns = PlanInOrder(terms_shape, walk.subspan(first_column), inputs);
    plan.regular = rows.rank == 1 && columns.rank == 1;
    for (size_t k = 0; k < inputs.size(); ++k) {
      plan.row_stride[k] = rows.operand[k].stride[0];
      plan.column_stride[k] = columns.operand[k].stride[0];
    }
  }
  PlanChunks(plan);
  return plan;
}

}  // namespace portacl
