// Views of a tensor's elements: another shape, strides and offset over the same storage. What moves elements is mostly made of
// these. Pure: no data is touched.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "plan/strided_view.h"

namespace portacl {

// The view by the strides that it is walked with, of which those that no element depends on can be multiplied.
StridedView PlainView(const StridedView& tensor) noexcept;

// Each changes a plain view. `dim` counts from 0.
//
// Of a dim every `step`-th element from `start` on, `length` of them. `step` may be negative.
void Narrow(StridedView& view, int dim, int64_t start, int64_t length, int64_t step = 1) noexcept;
// The dims in another order: dim i is what was dim order[i].
void Permute(StridedView& view, const int* order) noexcept;
// A new dim before dim `at`, whose neighbours lie `stride` elements apart.
void InsertDim(StridedView& view, int at, int64_t length, int64_t stride) noexcept;
// Takes a dim out, at one of its indices.
void Select(StridedView& view, int dim, int64_t index) noexcept;
// A dim of one element repeated.
void Expand(StridedView& view, int dim, int64_t length) noexcept;
// One dim cut into two: rows of `inner` elements.
void SplitDim(StridedView& view, int dim, int64_t inner) noexcept;

// One dim whose elements follow each other `stride` elements apart, seen as `shape` in row-major order.
void FillShape(StridedView& view, const Shape& shape, int64_t stride) noexcept;

}  // namespace portacl
