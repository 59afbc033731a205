// Views of a tensor's elements: another shape, strides and offset over the same storage. Most operators that
// move elements are built from these. Making a view touches no data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "aclnn/tensor.h"

namespace portacl {

// Returns a view of the memory: a private format counts as dense, and unused strides become values that can
// be multiplied.
aclTensor PlainView(const aclTensor& tensor) noexcept;

// Each of the following changes a plain view. `dim` counts from 0.
//
// Keeps every `step`-th element of a dim, `length` of them, beginning at `start`. `step` may be negative.
void Narrow(aclTensor& view, int dim, int64_t start, int64_t length, int64_t step = 1) noexcept;
// Permutes the dims: the new dim i is the old dim order[i].
void Permute(aclTensor& view, const int* order) noexcept;
// Inserts a dim before dim `at`. Its neighbouring elements lie `stride` elements apart.
void InsertDim(aclTensor& view, int at, int64_t length, int64_t stride) noexcept;
// Removes a dim, and keeps one of its indices.
void Select(aclTensor& view, int dim, int64_t index) noexcept;
// Repeats a dim of one element.
void Expand(aclTensor& view, int dim, int64_t length) noexcept;
// Splits a dim into two: rows of `inner` elements.
void SplitDim(aclTensor& view, int dim, int64_t inner) noexcept;

// Replaces one dim, whose elements lie `stride` elements apart, with dims of `shape` in row-major order.
void FillShape(aclTensor& view, const Shape& shape, int64_t stride) noexcept;

}  // namespace portacl
