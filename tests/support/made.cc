// The C objects of a call that a test makes by hand: see made.h.
// SPDX-License-Identifier: Apache-2.0
#include "made.h"

#include <memory>

namespace portacl::testing {
ViewOf::ViewOf(const aclTensor* tensor) {
  int64_t* dims[3] = {};
  uint64_t ranks[3] = {};
  aclGetViewShape(tensor, &dims[0], &ranks[0]);
  aclGetViewStrides(tensor, &dims[1], &ranks[1]);
  aclGetStorageShape(tensor, &dims[2], &ranks[2]);
  Shape* const parts[] = {&shape, &strides, &storage};
  for (size_t i = 0; i < 3; ++i) {
    parts[i]->assign(dims[i], dims[i] + ranks[i]);
    delete[] dims[i];
  }
  aclGetViewOffset(tensor, &offset);
  aclGetDataType(tensor, &dtype);
  aclGetRawTensorAddr(tensor, &address);
}

aclTensor* ViewOf::Create(aclFormat format) const {
  return aclCreateTensor(shape.data(), shape.size(), dtype, strides.data(), offset, format, storage.data(),
                         storage.size(), address);
}

aclTensor* Part(const aclTensor* tensor, size_t dim, int64_t begin, int64_t length) {
  ViewOf view(tensor);
  view.shape[dim] = length;
  view.offset += begin * view.strides[dim];
  return view.Create(ACL_FORMAT_ND);
}

aclTensor* Same(const aclTensor* tensor, aclFormat format) { return ViewOf(tensor).Create(format); }

Made::~Made() {
  for (const aclTensor* const tensor : tensors_) aclDestroyTensor(tensor);
  for (const aclTensorList* const list : lists_) aclDestroyTensorList(list);
  for (const aclIntArray* const array : ints_) aclDestroyIntArray(array);
  for (const aclBoolArray* const array : flags_) aclDestroyBoolArray(array);
  for (const aclScalar* const scalar : scalars_) aclDestroyScalar(scalar);
  for (const aclScalarList* const list : scalar_lists_) aclDestroyScalarList(list);
}

aclTensor* Made::Entry(const Shape& shape, aclDataType dtype, void* data, aclFormat format) {
  return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, format, shape.data(), shape.size(),
                         data);
}

aclTensor* Made::FarApart(const Shape& shape, aclDataType dtype, void* data) {
  const Shape strides(shape.size(), int64_t{1} << 61);
  return Own(aclCreateTensor(shape.data(), shape.size(), dtype, strides.data(), 0, ACL_FORMAT_ND,
                             shape.data(), shape.size(), data));
}

aclScalarList* Made::Scalars(const std::vector<double>& values) {
  std::vector<aclScalar*> entries;
  for (double value : values) entries.push_back(aclCreateScalar(&value, ACL_DOUBLE));
  return scalar_lists_.emplace_back(aclCreateScalarList(entries.data(), entries.size()));
}

aclBoolArray* Made::Flags(const std::vector<bool>& values) {
  const auto flags = std::make_unique<bool[]>(values.size() + 1);
  for (size_t i = 0; i < values.size(); ++i) flags[i] = values[i];
  return flags_.emplace_back(aclCreateBoolArray(flags.get(), values.size()));
}

}  // namespace portacl::testing
