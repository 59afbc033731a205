// Loop plans: from shapes, strides and dtypes to the fewest loops that visit every element once. Planning
// touches no data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "plan/shape.h"
#include "plan/strided_view.h"

namespace portacl {

// Operators accept at most 8 dims.
inline constexpr int kMaxLoopRank = 8;
// Most operands of a formula, its output included.
inline constexpr int kMaxLoopOperands = 4;

// How a loop walks one operand, in bytes.
struct OperandLoop {
  int64_t offset = 0;            // of the element at loop position 0, from the storage base
  int64_t stride[kMaxLoopRank];  // per loop dim; 0 where the operand is broadcast
  int32_t element_size = 0;
  bool linear = false;  // the i-th element of the whole loop has the address offset + i * linear_stride
  int64_t linear_stride = 0;
  bool transposed = false;  // dense along the last but one dim, not along the last
};

// Loop dims are outermost first; extents are at least 2 except that a loop of one element has rank 1 and
// extent 1.
struct LoopPlan {
  int rank = 1;
  int64_t extent[kMaxLoopRank];
  int64_t count = 1;  // product of the extents
  int operand_count = 0;
  OperandLoop operand[kMaxLoopOperands];
  bool has_transposed = false;  // for any of the operands

  // Leaves entries past the rank and the operands unset: a plan is made for every call.
  LoopPlan() noexcept { extent[0] = 1; }  // NOLINT(*-member-init)

  // Returns the bytes of all operands' distinct elements, for choosing how to write.
  int64_t BytesWalked() const noexcept;
};

// Plans an elementwise loop over `shape` for operands that each broadcast to it. The last operand is the
// output. The order of elements is free: dims are sorted, reversed and merged to make the output's walk as
// dense as possible. Where operands are dense along different dims, the two dims that matter most come last,
// and operands that are dense along the last but one are marked as transposed. Preconditions, which the
// contract checks: no dim of `shape` is 0, it has at most 8 dims, and every reachable byte offset fits int64.
LoopPlan PlanElementwise(const Shape& shape, std::span<const StridedView* const> operands) noexcept;

// Reduces a loop over more than kMaxLoopRank dims to fewer dims: drops dims of length 1, and merges dims that
// every operand walks as one. The operands' views have the merged shape, with stride 0 where they are
// broadcast.
struct MergedLoop {
  Shape shape{};
  StridedView operand[kMaxLoopOperands];
};
MergedLoop MergeLoop(const Shape& shape, std::span<const StridedView* const> operands) noexcept;

// Plans a loop over `shape` that visits the axes in the given order, outermost first, for operands that each
// broadcast to it. Dims are merged but not reordered. Axes that are not listed are not walked.
LoopPlan PlanInOrder(const Shape& shape, std::span<const int> axes,
                     std::span<const StridedView* const> operands) noexcept;

// Plans a loop over the distinct elements of one operand of a plan, in the order of its walk. Leaves out the
// dims along which the operand is broadcast. The new plan's operands are that operand, and a dense copy of
// its elements, `size` bytes each.
LoopPlan PlanUnbroadcast(const LoopPlan& plan, int operand, int32_t size) noexcept;

// Returns how the original plan walks such a copy in place of the operand.
OperandLoop LoopOfUnbroadcast(const LoopPlan& plan, int operand, int32_t size) noexcept;

}  // namespace portacl
