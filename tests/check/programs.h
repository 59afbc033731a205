// What programs of the corpus share: memory, tensors and calls of a few operators, all of which must succeed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstdlib>
#include <initializer_list>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/families/activations.h"
#include "aclnnop/families/creation.h"
#include "aclnnop/families/unary.h"

namespace corpus {

inline void Must(int status) {
  if (status != 0) std::_Exit(99);
}

inline float* Device(size_t bytes) {
  void* address = nullptr;
  Must(aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
  return static_cast<float*>(address);
}

// Device memory whose bytes are all 0.
inline float* Zeros(size_t bytes) {
  float* const address = Device(bytes);
  Must(aclrtMemset(address, bytes, 0, bytes));
  return address;
}

// A FLOAT tensor of 1 or 2 dims; it is never destroyed, since the programs end at once.
inline aclTensor* Tensor(void* data, std::initializer_list<int64_t> dims,
                         std::initializer_list<int64_t> strides = {}, int64_t storage = 0) {
  int64_t elements = 1;
  for (int64_t dim : dims) elements *= dim;
  if (storage == 0) storage = elements;
  return aclCreateTensor(dims.begin(), dims.size(), ACL_FLOAT,
                         strides.size() == 0 ? nullptr : strides.begin(), 0, ACL_FORMAT_ND, &storage, 1,
                         data);
}

template <class Phase1, class Phase2, class... Operands>
void Launch(Phase1 phase1, Phase2 phase2, aclrtStream stream, Operands... operands) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  Must(phase1(operands..., &size, &executor));
  void* workspace = size == 0 ? nullptr : Device(size);
  Must(phase2(workspace, size, executor, stream));
  Must(aclrtSynchronizeStream(stream));
}

inline void Abs(aclTensor* self, aclTensor* out, aclrtStream stream = nullptr) {
  Launch(aclnnAbsGetWorkspaceSize, aclnnAbs, stream, self, out);
}
inline void InplaceRelu(aclTensor* self, aclrtStream stream = nullptr) {
  Launch(aclnnInplaceReluGetWorkspaceSize, aclnnInplaceRelu, stream, self);
}
inline void InplaceCopy(aclTensor* self, aclTensor* source, aclrtStream stream = nullptr) {
  Launch(aclnnInplaceCopyGetWorkspaceSize, aclnnInplaceCopy, stream, self, source);
}

inline constexpr size_t kBytes = 1024;
inline constexpr int64_t kElements = kBytes / sizeof(float);

}  // namespace corpus
