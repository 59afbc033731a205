// Plans of sums over axes: which terms belong to which output, and in which order they are added. Planning
// touches no data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "plan/loop_plan.h"

namespace portacl {

// Terms per block where terms go to lanes, and rows per block elsewhere. Block sizes are fixed:
// docs/numerics.md.
inline constexpr int64_t kLaneBlock = 4096;
inline constexpr int64_t kRowBlock = 256;

// Limit of the chunks of one output.
inline constexpr int64_t kMaxChunks = 64;

// Terms of shape R are summed over the axes that are not kept. The axes of R are walked in the order
//   outer kept axes | reduced axes | inner kept axes
// where the inner kept axes are those after the last reduced one. Term (o * reduced + r) * inner + k is thus
// the r-th term of output o * inner + k. Within an output, terms are in row-major order of the reduced axes.
// Axes of length 1 and strides do not influence the order.
//
// If inner == 1, the last axis longer than 1 is reduced, and the r-th term goes to lane r mod 16 of block r /
// kLaneBlock. Otherwise each output adds its terms one after the other, in blocks of kRowBlock. A tree that
// pairs neighbours, level by level, combines the blocks of an output; an odd block moves up unchanged.
struct ReductionPlan {
  int64_t outer = 1;
  int64_t reduced = 1;  // 0: R is empty, every output is +0
  int64_t inner = 1;
  LoopPlan terms;   // over the inputs, in the order described above
  LoopPlan output;  // over the output only, in row-major order

  // Tells whether each input walks the reduced axes with one stride (row_stride) and the inner axes with one
  // (column_stride), both in bytes.
  bool regular = false;
  int64_t row_stride[kMaxLoopOperands] = {};
  int64_t column_stride[kMaxLoopOperands] = {};

  // To distribute few outputs over threads, each output's blocks are split into chunks of `chunk_blocks`.
  // That is a power of two, so the tree stays the same. chunks > 1 needs a workspace of outer * inner *
  // chunks float64.
  int64_t blocks = 0;
  int64_t chunk_blocks = 1;
  int64_t chunks = 1;

  bool in_lanes() const { return inner == 1; }
  int64_t outputs() const { return outer * inner; }
  uint64_t workspace_bytes() const {
    return chunks > 1 ? static_cast<uint64_t>(outputs() * chunks) * sizeof(double) : 0;
  }
};

// Plans the sum of terms of shape `terms_shape` to the shape `kept`, which broadcasts to it: an axis that is
// 1 or missing in `kept` is reduced. The output's view has as many elements as `kept`, in the same order, but
// may have another shape: a sum over everything may be written to [] or [1, 1], one over the first axis to a
// tensor without that axis. Preconditions as for PlanElementwise, except that terms_shape may have dims of 0
// where `kept` has none; the inputs need not fit terms_shape then.
ReductionPlan PlanReduction(const Shape& terms_shape, const Shape& kept,
                            std::span<const StridedView* const> inputs, const StridedView& output) noexcept;

}  // namespace portacl
