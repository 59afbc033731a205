// Measures and queues the calls of native operators (see native_calls.h).
// SPDX-License-Identifier: Apache-2.0
#include "atb/native_calls.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace atb {
namespace {

constexpr uint64_t kAlignment = 512;

uint64_t Aligned(uint64_t size) noexcept { return (size + kAlignment - 1) / kAlignment * kAlignment; }

// Destroys an executor that never reaches phase 2.
struct Executor {
  aclOpExecutor* executor = nullptr;
  ~Executor() {
    if (executor != nullptr) aclDestroyAclOpExecutor(executor);
  }
};

void Check(aclnnStatus status) {
  if (status == ACL_SUCCESS) return;
  const char* message = aclGetRecentErrMsg();
  Refuse(kCannError,
         message == nullptr ? "a native operator refused with " + std::to_string(status) : message);
}

}  // namespace

void Refuse(Status status, std::string sentence) { throw Refusal{status, std::move(sentence)}; }

Calls::Calls(uint8_t* workspace, const Tensor& any, aclrtStream stream) noexcept
    : workspace_(workspace), any_(any.deviceData), stream_(stream) {}

Calls::~Calls() {
  for (aclTensorList* list : lists_) aclDestroyTensorList(list);  // destroys the tensors in it too
  for (aclTensor* tensor : tensors_) aclDestroyTensor(tensor);
  for (aclIntArray* array : arrays_) aclDestroyIntArray(array);
  for (aclScalar* scalar : scalars_) aclDestroyScalar(scalar);
}

aclTensor* Calls::View(const Tensor& tensor, const Shape& shape, const Shape& strides) {
  const int64_t elements = ElementsOf(ShapeOf(tensor));
  if (tensor.deviceData == nullptr && tensor.hostData != nullptr)
    Refuse(kInvalidTensorAddress, "a tensor lies in host memory, accepted: one on the device");
  void* const address = tensor.deviceData;
  aclTensor* const view = aclCreateTensor(shape.data(), shape.size(), tensor.desc.dtype, strides.data(), 0,
                                          ACL_FORMAT_ND, &elements, 1, address);
  if (view == nullptr) Refuse(kNoHostMemory, "no memory for a tensor");
  tensors_.push_back(view);
  return view;
}

aclTensor* Calls::View(const Tensor& tensor, const Shape& shape) {
  Shape strides(shape.size(), 1);
  for (size_t dim = shape.size(); dim > 1; --dim) strides[dim - 2] = strides[dim - 1] * shape[dim - 1];
  return View(tensor, shape, strides);
}

aclTensor* Calls::View(const Tensor& tensor) { return View(tensor, ShapeOf(tensor)); }

Tensor Calls::Temporary(const Shape& shape, aclDataType dtype) {
  Tensor made = {};
  made.desc = {dtype, ACL_FORMAT_ND, {}};
  made.desc.shape.dimNum = shape.size();
  std::copy(shape.begin(), shape.end(), made.desc.shape.dims);
  made.deviceData = workspace_ == nullptr ? any_ : workspace_ + temporaries_;
  made.dataSize = Utils::GetTensorSize(made);
  temporaries_ += Aligned(made.dataSize);
  return made;
}

aclTensorList* Calls::List(const std::vector<aclTensor*>& tensors) {
  aclTensorList* const list = aclCreateTensorList(tensors.data(), tensors.size());
  if (list == nullptr) Refuse(kNoHostMemory, "no memory for a list of tensors");
  for (aclTensor* const tensor : tensors)
    tensors_.erase(std::find(tensors_.begin(), tensors_.end(), tensor));  // the list destroys it
  lists_.push_back(list);
  return list;
}

aclIntArray* Calls::Integers(const std::vector<int64_t>& values) {
  aclIntArray* const array = aclCreateIntArray(values.data(), values.size());
  if (array == nullptr) Refuse(kNoHostMemory, "no memory for an array");
  arrays_.push_back(array);
  return array;
}

aclScalar* Calls::Number(double value) {
  auto number = static_cast<float>(value);
  aclScalar* const scalar = aclCreateScalar(&number, ACL_FLOAT);
  if (scalar == nullptr) Refuse(kNoHostMemory, "no memory for a scalar");
  scalars_.push_back(scalar);
  return scalar;
}

void Calls::Add(PhaseOne first, PhaseTwo second) { calls_.push_back({std::move(first), second}); }

uint64_t Calls::Measure() {
  uint64_t most = 0;
  for (const Call& call : calls_) {
    uint64_t size = 0;
    Executor made;
    Check(call.first(&size, &made.executor));
    most = std::max(most, size);
  }
  return temporaries_ + most;
}

void Calls::Queue(uint64_t workspace_size) {
  for (const Call& call : calls_) {
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    Check(call.first(&size, &executor));
    if (temporaries_ + size > workspace_size) {
      aclDestroyAclOpExecutor(executor);
      Refuse(kInvalidWorkspaceSize, "the workspace has " + std::to_string(workspace_size) + " bytes, and " +
                                        std::to_string(temporaries_ + size) + " are needed");
    }
    Check(call.second(workspace_ + temporaries_, size, executor, stream_));
  }
}

Shape ShapeOf(const Tensor& tensor) {
  const Dims& shape = tensor.desc.shape;
  if (shape.dimNum > kMostDims)
    Refuse(kInvalidTensorDim, "a tensor has " + std::to_string(shape.dimNum) + " dims, accepted: at most 8");
  return Shape(shape.dims, shape.dims + shape.dimNum);
}

int64_t ElementsOf(const Shape& shape) noexcept {
  int64_t elements = 1;
  for (const int64_t dim : shape) elements *= dim;
  return elements;
}

bool IsThere(const Tensor& tensor) noexcept {
  return tensor.deviceData != nullptr || tensor.hostData != nullptr;
}

std::vector<int64_t> Calls::HostIntegers(const Tensor& tensor, const char* name) {
  const void* data = tensor.hostData;
  const int64_t elements = ElementsOf(ShapeOf(tensor));
  std::vector<std::byte> copy;
  if (data == nullptr && elements > 0) {
    if (tensor.deviceData == nullptr) Refuse(kInvalidTensorAddress, std::string(name) + " has no address");
    copy.resize(static_cast<size_t>(elements) * aclDataTypeSize(tensor.desc.dtype));
    Check(aclrtSynchronizeStream(stream_));  // queued work may still write the tensor
    Check(aclrtMemcpy(copy.data(), copy.size(), tensor.deviceData, copy.size(), ACL_MEMCPY_DEVICE_TO_HOST));
    data = copy.data();
  }
  switch (tensor.desc.dtype) {
    case ACL_INT32: {
      const auto* values = static_cast<const int32_t*>(data);
      return {values, values + elements};
    }
    case ACL_INT64: {
      const auto* values = static_cast<const int64_t*>(data);
      return {values, values + elements};
    }
    default:
      Refuse(kInvalidTensorDtype, std::string(name) + " has the dtype " + std::to_string(tensor.desc.dtype) +
                                      ", accepted: INT32 and INT64");
  }
}

}  // namespace atb
