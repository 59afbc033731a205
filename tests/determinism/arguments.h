// Arguments of calls in the determinism test that are made of its tensors or of numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <vector>

#include "aclnn/aclnn_base.h"

namespace portacl::testing {

using Tensors = std::span<aclTensor* const>;

class Ints {
 public:
  Ints(std::initializer_list<int64_t> values) : array_(aclCreateIntArray(values.begin(), values.size())) {}
  ~Ints() { aclDestroyIntArray(array_); }
  Ints(const Ints&) = delete;
  Ints& operator=(const Ints&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

class Scalar {
 public:
  explicit Scalar(double value) : scalar_(aclCreateScalar(&value, ACL_DOUBLE)) {}
  ~Scalar() { aclDestroyScalar(scalar_); }
  Scalar(const Scalar&) = delete;
  Scalar& operator=(const Scalar&) = delete;
  operator const aclScalar*() const { return scalar_; }

 private:
  aclScalar* scalar_;
};

// The elements [begin, begin + length) along a dim, as a tensor of its own.
inline aclTensor* Part(const aclTensor* tensor, size_t dim, int64_t begin, int64_t length) {
  int64_t* shape = nullptr;
  int64_t* strides = nullptr;
  int64_t* storage = nullptr;
  uint64_t rank = 0;
  uint64_t storage_rank = 0;
  int64_t offset = 0;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* address = nullptr;
  aclGetViewShape(tensor, &shape, &rank);
  aclGetViewStrides(tensor, &strides, &rank);
  aclGetStorageShape(tensor, &storage, &storage_rank);
  aclGetViewOffset(tensor, &offset);
  aclGetDataType(tensor, &dtype);
  aclGetRawTensorAddr(tensor, &address);
  shape[dim] = length;
  aclTensor* const part = aclCreateTensor(shape, rank, dtype, strides, offset + begin * strides[dim],
                                          ACL_FORMAT_ND, storage, storage_rank, address);
  delete[] shape;
  delete[] strides;
  delete[] storage;
  return part;
}
inline aclTensor* Whole(const aclTensor* tensor) {
  int64_t* shape = nullptr;
  uint64_t rank = 0;
  aclGetViewShape(tensor, &shape, &rank);
  const int64_t length = shape[0];
  delete[] shape;
  return Part(tensor, 0, 0, length);
}

// A list that stays until the next one is made, since phase 2 may need it; it owns its tensors.
inline aclTensorList* ListOf(const std::vector<aclTensor*>& tensors) {
  struct Destroy {
    void operator()(aclTensorList* list) const { aclDestroyTensorList(list); }
  };
  thread_local std::unique_ptr<aclTensorList, Destroy> last;
  last.reset(aclCreateTensorList(tensors.data(), tensors.size()));
  return last.get();
}
inline aclTensorList* ListOfWholes(Tensors tensors) {
  std::vector<aclTensor*> wholes;
  for (const aclTensor* tensor : tensors) wholes.push_back(Whole(tensor));
  return ListOf(wholes);
}

}  // namespace portacl::testing
