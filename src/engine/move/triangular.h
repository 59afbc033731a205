// Triangles of matrices: one part of each row is copied, the rest becomes 0.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "plan/loop_plan.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Trivially copyable, so that an executor can hold it. Every element of the destination is written once.
struct TriangleJob {
  int8_t source;
  int8_t destination;
  bool is_upper;  // keeps the columns from row + diagonal on, else those up to there
  int rank;
  int threads;
  size_t size;  // of an element
  int64_t diagonal;
  int64_t count;
  int64_t extent[kMaxLoopRank];  // the last two are rows and columns
  // Offsets in bytes.
  int64_t offset_from;
  int64_t offset_to;
  int64_t stride_from[kMaxLoopRank];
  int64_t stride_to[kMaxLoopRank];

  bool Touches(int operand) const noexcept { return operand == source || operand == destination; }
  int64_t Elements() const noexcept { return count; }

  void Run(void* const* addresses, void*) const noexcept;
};

// Keeps each matrix (the last two dims) on and above a diagonal, or on and below it; `diagonal` counts
// columns above the main one. Preconditions: both have one shape of rank 2 to 8 without a dim 0, and one
// dtype of 1, 2, 4 or 8 bytes; those of PlanElementwise hold. The two may be one tensor.
TriangleJob MakeTriangle(const StridedView& source, const StridedView& destination, bool is_upper,
                         int64_t diagonal, int threads) noexcept;

}  // namespace portacl::engine
