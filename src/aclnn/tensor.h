// The objects behind the aclnn handles: aclTensor, aclScalar, arrays and lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnn/shape.h"

// A view over storage that the caller owns. Nothing is validated at creation, as in CANN: operators check.
struct aclTensor {
  portacl::Shape view;
  portacl::Shape strides;  // in elements, rank equals view's
  int64_t offset = 0;      // in elements
  portacl::Shape storage;
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  void* data = nullptr;  // storage base; the offset is not applied

  // Derived from the fields above. Every call reads these, so Describe computes them when the fields above
  // are set.
  int64_t numel = 1;       // the view's; 0 when it is not countable
  bool countable = true;   // no dim is negative, and the number of elements fits int64
  bool contiguous = true;  // see IsContiguous
  bool bytes_fit = true;   // the byte offsets of all elements fit int64; undefined for an empty view

  void Describe() noexcept;
};

struct aclScalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  alignas(16) unsigned char value[16] = {};
};

struct aclIntArray {
  std::vector<int64_t> values;
};

struct aclFloatArray {
  std::vector<float> values;
};

struct aclBoolArray {
  std::vector<unsigned char> values;  // not vector<bool>: one byte per element, as in the C interface
};

// Lists own their elements; an element may be null.
struct aclTensorList {
  std::vector<const aclTensor*> values;
};

struct aclScalarList {
  std::vector<const aclScalar*> values;
};

namespace portacl {

// Tells whether the view's elements lie in row-major order without gaps. Dims of length 1 do not matter.
// Private formats and tensors of at most one element count as contiguous.
inline bool IsContiguous(const aclTensor& tensor) noexcept { return tensor.contiguous; }

// Computes the lowest and the highest storage index, in elements, of the view. Returns false when they do not
// fit int64 or the view has no elements.
bool ReachOf(const aclTensor& tensor, int64_t* lowest, int64_t* highest) noexcept;

// Return the bytes before the first element, and from one element to the next along a dim. Both are 0 for a
// tensor without elements. The stride of a dim of length 1 is 0 too: the caller's value may be any number.
int64_t ByteOffset(const aclTensor& tensor) noexcept;
int64_t ByteStride(const aclTensor& tensor, int dim) noexcept;

}  // namespace portacl
