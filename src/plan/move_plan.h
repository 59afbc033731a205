// The plan of a copy: the loop that visits the elements of two views of one shape once, in the order that suits both.
// Pure: no data is touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "plan/loop_plan.h"

namespace portacl {

// The operands of a plan made by PlanMove.
inline constexpr int kMoveSource = 0;
inline constexpr int kMoveDestination = 1;

inline constexpr int64_t kWidestMove = 8192;

// Plans the copy of `source`, which broadcasts to `shape`, to `destination`, which has it. Dims are flipped and sorted so
// that the destination's addresses grow, and merged. The last dim is the one along which the destination's elements lie
// closest together; where the source's lie closest along another one, that is the last but one.
// With `same_bytes` elements are only copied: rows that both operands have dense are then walked as one element, up to
// kWidestMove bytes, which may be any number; the element size of both operands is that of the rows.
// Preconditions as PlanElementwise.
LoopPlan PlanMove(const Shape& shape, const StridedView& source, const StridedView& destination,
                  bool same_bytes) noexcept;

// The same elements in fewer dims: those of length 1 left out, neighbours merged where the outer one continues the inner.
// For operators that take more than kMaxLoopRank dims and do not ask where an element lies.
StridedView MergedDims(const StridedView& tensor) noexcept;

}  // namespace portacl
