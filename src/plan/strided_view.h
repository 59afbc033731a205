// Strided views: what kernels and plans know of a tensor. Its storage, format and address belong to the handle (aclnn/tensor.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "plan/shape.h"

namespace portacl {

// Shape, strides, offset and dtype, and what follows from them. Every call asks for that, so Describe works it out once, when they are set.
struct StridedView {
  Shape view;
  Shape strides;       // in elements, rank equals view's
  int64_t offset = 0;  // in elements
  aclDataType dtype = ACL_DT_UNDEFINED;
  bool is_dense = false;  // walked in row-major order without gaps, whatever the strides say

  int64_t numel = 1;       // 0 when it is not countable
  bool countable = true;   // no dim is negative, and the number of elements fits int64
  bool contiguous = true;  // see IsContiguous
  bool bytes_fit = true;   // the byte offsets of all elements fit int64; not said of a view without elements

  void Describe() noexcept;
};

// Whether the view's elements lie in row-major order without gaps (dims of length 1 do not matter; dense views and those of at most one
// element are contiguous).
inline bool IsContiguous(const StridedView& view) noexcept { return view.contiguous; }

// The lowest and highest storage index, in elements, that the view reaches; false when they do not fit int64
// or the view has no elements.
bool ReachOf(const StridedView& view, int64_t* lowest, int64_t* highest) noexcept;

// Bytes before the first element, and from an element to the next one of a dim. 0 of a view without elements, and the step
// also of a dim of a single one: nothing lies there, and what the caller gave may be any number.
int64_t ByteOffset(const StridedView& view) noexcept;
int64_t ByteStride(const StridedView& view, int dim) noexcept;

}  // namespace portacl
