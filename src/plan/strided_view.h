// Strided views: the part of a tensor that plans and kernels see. Its storage, format and address belong to the handle (aclnn/tensor.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"
#include "plan/shape.h"

namespace portacl {

// Shape, strides, offset and dtype. Describe derives the other members from them once, when they are set, because every call uses these.
struct StridedView {
  Shape shape;
  Shape strides;       // in elements, rank equals shape's
  int64_t offset = 0;  // in elements
  aclDataType dtype = ACL_DT_UNDEFINED;
  bool is_dense = false;  // the elements are taken as row-major without gaps, whatever the strides say

  int64_t numel = 1;       // 0 if not countable
  bool countable = true;   // no dim is negative, and the number of elements fits int64
  bool contiguous = true;  // see IsContiguous
  bool bytes_fit = true;   // the byte offsets of all elements fit int64; undefined without elements

  void Describe() noexcept;
};

// Tells whether the elements lie in row-major order without gaps. Dims of length 1 do not matter. Dense views and views of at most one
// element are contiguous.
inline bool IsContiguous(const StridedView& view) noexcept { return view.contiguous; }

// Computes the lowest and highest storage index of the view, in elements. Returns false if they do not fit int64 or the view has no
// elements.
bool ReachOf(const StridedView& view, int64_t* lowest, int64_t* highest) noexcept;

// Return the offset of the first element, and the stride of a dim, in bytes. Both are 0 for a view without elements, and the stride is 0
// for a dim of length 1, because the caller may have given any number there.
int64_t ByteOffset(const StridedView& view) noexcept;
int64_t ByteStride(const StridedView& view, int dim) noexcept;

}  // namespace portacl
