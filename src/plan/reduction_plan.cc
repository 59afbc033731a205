// Planning of sums over axes (see reduction_plan.h).
// SPDX-License-Identifier: Apache-2.0
#include "plan/reduction_plan.h"

#include <algorithm>

namespace portacl {
namespace {

// Bounds of the workspace and of the number of pieces of work; they change who computes what, never a result.
constexpr int64_t kMaxPartials = int64_t{1} << 16;
constexpr int64_t kMaxChunks = 64;
// Fewer terms than this are not worth a second thread.
constexpr int64_t kMinTermsPerChunk = int64_t{1} << 15;

void PlanChunks(ReductionPlan& plan) {
  const int64_t block = plan.in_lanes() ? kLaneBlock : kRowBlock;
  plan.blocks = (plan.reduced + block - 1) / block;
  plan.chunk_blocks = 1;
  const int64_t most = std::min(kMaxChunks, kMaxPartials / plan.outputs());
  const auto chunks = [&] { return (plan.blocks + plan.chunk_blocks - 1) / plan.chunk_blocks; };
  while (chunks() > 1 && (chunks() > most || plan.chunk_blocks * block * plan.inner < kMinTermsPerChunk)) {
    plan.chunk_blocks *= 2;
  }
  plan.chunks = chunks();
  if (plan.chunks <= 1) {
    plan.chunks = 1;
    plan.chunk_blocks = std::max<int64_t>(plan.blocks, 1);
  }
}

}  // namespace

ReductionPlan PlanReduction(const Shape& terms_shape, const Shape& kept,
                            std::span<const aclTensor* const> inputs, const aclTensor& output) noexcept {
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
  for (int axis = 0; axis <= last_reduced; ++axis) {
    if (!is_reduced(axis)) continue;
    axes[count++] = axis;
    plan.reduced *= terms_shape[axis];
  }
  for (int axis = last_reduced + 1; axis < terms_shape.rank; ++axis) {
    axes[count++] = axis;
    plan.inner *= terms_shape[axis];
  }

  // Not bounded by the rank of the terms: a sum over everything may go to a tensor of many axes of length 1.
  int output_axes[kMaxDims];
  int output_rank = 0;
  for (int axis = 0; axis < output.view.rank; ++axis) {
    if (output.view[axis] != 1) output_axes[output_rank++] = axis;
  }
  const aclTensor* const only[] = {&output};
  plan.output = PlanInOrder(output.view, {output_axes, static_cast<size_t>(output_rank)}, only);
  if (plan.reduced > 0) plan.terms = PlanInOrder(terms_shape, {axes, static_cast<size_t>(count)}, inputs);
  PlanChunks(plan);
  return plan;
}

}  // namespace portacl
