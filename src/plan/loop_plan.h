// The loop plan: from shapes, strides and dtypes to the fewest loops that visit every element once. Pure: no
// data is touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "plan/shape.h"
#include "plan/strided_view.h"

namespace portacl {

// Operators accept at most 8 dims.
inline constexpr int kMaxLoopRank = 8;
// Inputs of a formula plus its output.
inline constexpr int kMaxLoopOperands = 4;

// How one operand is walked. Everything is in bytes.
struct OperandLoop {
  int64_t offset = 0;            // of the element at loop position 0, from the storage base
  int64_t stride[kMaxLoopRank];  // per loop dim; 0 where the operand is broadcast
  int32_t element_size = 0;
  bool linear = false;  // the address of the i-th element of the whole loop is offset + i * linear_stride
  int64_t linear_stride = 0;
  bool transposed = false;  // not dense along the last dim, but along the one before it
};

// Loop dims are outermost first; extents are at least 2 except that a loop of one element has rank 1 and
// extent 1.
struct LoopPlan {
  int rank = 1;
  int64_t extent[kMaxLoopRank];
  int64_t count = 1;  // product of the extents
  int operand_count = 0;
  OperandLoop operand[kMaxLoopOperands];
  bool has_transposed = false;  // any of the operands

  // What lies past the rank and the operands is left as it is: a plan is made for every call.
  LoopPlan() noexcept { extent[0] = 1; }  // NOLINT(*-member-init)

  // Bytes of all operands' elements, broadcast ones counted as often as they are distinct; for choosing how
  // to write.
  int64_t BytesWalked() const noexcept;
};

// Plans an elementwise loop over `shape` for operands that each broadcast to it; the last one is the output.
// The order of the elements is free, so dims are sorted, flipped and merged to make the output's walk as
// dense as it can be; where operands are dense along different dims, the two that matter most come last, and the
// operands that are dense along the last but one are marked as transposed. Preconditions (the contract's checks): shape has no dim 0, at most 8 dims, and every
// reachable byte offset fits int64.
LoopPlan PlanElementwise(const Shape& shape, std::span<const StridedView* const> operands) noexcept;

// A loop over more than kMaxLoopRank dims as one over fewer: without those of length 1, and with those merged that every
// operand walks as one. The operands' views are of the merged shape, with stride 0 where they are broadcast.
struct MergedLoop {
  Shape shape{};
  StridedView operand[kMaxLoopOperands];
};
MergedLoop MergeLoop(const Shape& shape, std::span<const StridedView* const> operands) noexcept;

// Plans a loop over `shape` that visits its elements with the axes in the given order, outermost first, for
// operands that each broadcast to it. The order is kept: dims are only merged. Axes that are not listed are
// not walked.
LoopPlan PlanInOrder(const Shape& shape, std::span<const int> axes,
                     std::span<const StridedView* const> operands) noexcept;

// Plans a loop over the distinct elements of one operand of a plan, in the order of its walk, without the dims along
// which it is repeated. Operands: that one, and a dense copy of its elements, `size` bytes each.
LoopPlan PlanUnbroadcast(const LoopPlan& plan, int operand, int32_t size) noexcept;

// How the plan walks such a copy in place of the operand.
OperandLoop LoopOfUnbroadcast(const LoopPlan& plan, int operand, int32_t size) noexcept;

}  // namespace portacl
