// The objects behind the aclnn handles: aclTensor, aclScalar, arrays and lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"
#include "aclnn/shape.h"

// A view over storage that the caller owns. Nothing is validated at creation, as in CANN; operators check.
struct aclTensor {
  portacl::Shape view;
  portacl::Shape strides;  // in elements, rank equals view's
  int64_t offset = 0;      // in elements
  portacl::Shape storage;
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;
  void* data = nullptr;  // storage base; the offset is not applied

  // What follows from the above. Every call asks for it, so it is worked out when the above is set, by Describe.
  int64_t numel = 1;       // of the view; 0 when it is not countable
  bool countable = true;   // no dim is negative, and the number of elements fits int64
  bool contiguous = true;  // see IsContiguous
  bool bytes_fit = true;   // the byte offsets of all elements fit int64; not said of a view without elements

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
  std::vector<unsigned char> values;  // not vector<bool>: one byte per element, as the C side has it
};

// Lists own their elements; an element may be null.
struct aclTensorList {
  std::vector<const aclTensor*> values;
};

struct aclScalarList {
  std::vector<const aclScalar*> values;
};

namespace portacl {

// Whether the view's elements lie in row-major order without gaps (dims of length 1 do not matter; private
// formats and tensors of at most one element count as contiguous).
inline bool IsContiguous(const aclTensor& tensor) noexcept { return tensor.contiguous; }

// The lowest and highest storage index, in elements, that the view reaches; false when they do not fit int64
// or the view has no elements.
bool ReachOf(const aclTensor& tensor, int64_t* lowest, int64_t* highest) noexcept;

// Bytes before the first element, and from an element to the next one of a dim. 0 of a tensor without elements, and the step
// also of a dim of a single one: nothing lies there, and what the caller gave may be any number.
int64_t ByteOffset(const aclTensor& tensor) noexcept;
int64_t ByteStride(const aclTensor& tensor, int dim) noexcept;

}  // namespace portacl
