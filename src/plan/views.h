// Views of a tensor's elements: another shape, strides and offset over the same storage. Most operators that
// move elements are built from these. Making a view touches no data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plan/strided_view.h"

namespace portacl {

// Returns the view with its effective strides. Strides that no address depends on become ones that do not overflow.
StridedView PlainView(const StridedView& tensor) noexcept;

// Keeps every `step`-th element of a dim from `start` on, `length` of them. `step` may be negative. This
// function and the following ones change a plain view; `dim` counts from 0.
void Narrow(StridedView& view, int dim, int64_t start, int64_t length, int64_t step = 1) noexcept;
// Permutes the dims: the new dim i is the old dim order[i].
void Permute(StridedView& view, const int* order) noexcept;
// Inserts a dim before dim `at`. Its neighbouring elements lie `stride` elements apart.
void InsertDim(StridedView& view, int at, int64_t length, int64_t stride) noexcept;
// Removes a dim, and keeps one of its indices.
void Select(StridedView& view, int dim, int64_t index) noexcept;
// Repeats a dim of one element.
void Expand(StridedView& view, int dim, int64_t length) noexcept;
// Splits a dim into two: rows of `inner` elements.
void SplitDim(StridedView& view, int dim, int64_t inner) noexcept;

// Replaces one dim, whose elements lie `stride` elements apart, with dims of `shape` in row-major order.
void FillShape(StridedView& view, const Shape& shape, int64_t stride) noexcept;

}  // namespace portacl
