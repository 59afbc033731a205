// The C objects of a call that a test makes by hand, and which live as long as their owner.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "shapes.h"

namespace portacl::testing {

// A tensor as its getters tell it, from which others of the same memory are made.
struct ViewOf {
  explicit ViewOf(const aclTensor* tensor);
  aclTensor* Create(aclFormat format = ACL_FORMAT_ND) const;

  Shape shape;
  Shape strides;
  Shape storage;
  int64_t offset = 0;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void* address = nullptr;
};
// The elements [begin, begin + length) along a dim, as a tensor of its own.
aclTensor* Part(const aclTensor* tensor, size_t dim, int64_t begin, int64_t length);
// The same view of the same memory, for lists, which destroy their entries.
aclTensor* Same(const aclTensor* tensor, aclFormat format = ACL_FORMAT_ND);

// Owns tensors, lists, arrays and scalars. A list owns its entries.
class Made {
 public:
  Made() = default;
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made();

  // A dense tensor without an owner: an entry of a list.
  static aclTensor* Entry(const Shape& shape, aclDataType dtype, void* data,
                          aclFormat format = ACL_FORMAT_ND);

  aclTensor* Own(aclTensor* tensor) { return tensors_.emplace_back(tensor); }
  aclTensor* Dense(const Shape& shape, aclDataType dtype, void* data, aclFormat format = ACL_FORMAT_ND) {
    return Own(Entry(shape, dtype, data, format));
  }
  // A tensor whose elements are farther apart than there are addresses.
  aclTensor* FarApart(const Shape& shape, aclDataType dtype, void* data);
  aclTensorList* List(const std::vector<aclTensor*>& entries) {
    return lists_.emplace_back(aclCreateTensorList(entries.data(), entries.size()));
  }
  aclTensorList* List(aclTensor* entry) { return List(std::vector<aclTensor*>{entry}); }
  aclIntArray* Ints(const std::vector<int64_t>& values) {
    return ints_.emplace_back(aclCreateIntArray(values.data(), values.size()));
  }
  aclBoolArray* Flags(const std::vector<bool>& values);
  template <class T>
  aclScalar* Scalar(T value, aclDataType dtype) {
    return scalars_.emplace_back(aclCreateScalar(&value, dtype));
  }
  aclScalar* Scalar(double value) { return Scalar(value, ACL_DOUBLE); }
  aclScalarList* Scalars(const std::vector<double>& values);
  // A text for parameters that are not const.
  char* Text(const char* text) { return texts_.emplace_back(text).data(); }

 private:
  std::vector<aclTensor*> tensors_;
  std::vector<aclTensorList*> lists_;
  std::vector<aclIntArray*> ints_;
  std::vector<aclBoolArray*> flags_;
  std::vector<aclScalar*> scalars_;
  std::vector<aclScalarList*> scalar_lists_;
  std::deque<std::string> texts_;
};

}  // namespace portacl::testing
