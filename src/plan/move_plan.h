// Plans of copies: loops that visit the elements of two views of one shape once, in an order that suits both.
// Planning touches no data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/loop_plan.h"

namespace portacl {

// Operands of a plan that PlanMove makes.
inline constexpr int kMoveSource = 0;
inline constexpr int kMoveDestination = 1;

inline constexpr int64_t kWidestMove = 8192;

// Plans the copy of `source`, which broadcasts to `shape`, to `destination`, whose shape it is. Reverses,
// sorts and merges dims so that the destination's addresses grow. The last dim is the one along which the
// destination's elements lie closest together. The source's closest dim becomes the last but one, where it is
// another dim. `same_bytes` means that elements are only copied. Rows that are dense in both operands then
// count as one element of up to kWidestMove bytes, which need not be a power of two; this is the element size
// of both operands. Preconditions as for PlanElementwise.
LoopPlan PlanMove(const Shape& shape, const StridedView& source, const StridedView& destination,
                  bool same_bytes) noexcept;

// Returns the same elements with fewer dims: dims of length 1 are dropped, and neighbours merged where the
// outer one continues the inner. Used by operators that take more than kMaxLoopRank dims and do not depend on
// positions.
StridedView MergedDims(const StridedView& tensor) noexcept;

}  // namespace portacl
