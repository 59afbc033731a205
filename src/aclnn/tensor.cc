// Creation, destruction and getters of the aclnn objects.
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/tensor.h"

#include <cstring>
#include <memory>
#include <new>

#include "aclnn/opdev/op_errno.h"
#include "aclnn/shaped_tensor.h"
#include "base/data_type.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"

using namespace portacl;

void aclTensor::Describe() noexcept {
  is_dense = IsPrivateFormat(format);
  StridedView::Describe();
}

namespace {

Shape CopyDims(const int64_t* dims, uint64_t count) {
  Shape shape;
  shape.rank = static_cast<int>(count);
  for (int i = 0; i < shape.rank; ++i) shape.dim[i] = dims[i];
  return shape;
}

bool RankFits(const char* api, const char* parameter, uint64_t rank) {
  if (rank <= static_cast<uint64_t>(kMaxDims)) return true;
  FailAclnn(ACLNN_ERR_PARAM_INVALID, Text(api, ": parameter ", parameter, " has the value ", rank,
                                          ", accepted: 0 to ", kMaxDims, "."));
  return false;
}

aclnnStatus FailNullPointer(const char* api, const char* parameter) {
  return FailAclnn(ACLNN_ERR_PARAM_NULLPTR,
                   Text(api, ": parameter ", parameter, " is a null pointer, expected a valid address."));
}

void FailMemory(const char* api) { FailAclnn(ACLNN_ERR_INNER_NULLPTR, Text(api, ": not enough memory.")); }

// Copies `size` values; a null pointer or size 0 makes an empty array, as in CANN.
template <class Array, class Value>
Array* CreateArray(const char* api, const Value* value, uint64_t size) {
  try {
    auto array = std::make_unique<Array>();
    if (value != nullptr && size > 0) array->values.assign(value, value + size);
    return array.release();
  } catch (...) {
    FailMemory(api);
    return nullptr;
  }
}

template <class T>
aclnnStatus Destroy(const T* object) {
  delete object;
  return ACL_SUCCESS;
}

template <class List, class Element>
aclnnStatus DestroyList(const List* list, aclnnStatus (*destroy)(const Element*)) {
  if (list != nullptr) {
    for (const Element* element : list->values) destroy(element);
  }
  delete list;
  return ACL_SUCCESS;
}

// Returns the bytes of a scalar of this dtype, or 0 for a dtype that no scalar has.
uint32_t ScalarBytes(aclDataType dtype) {
  switch (dtype) {
    case ACL_STRING:
    case ACL_DT_UNDEFINED:
    case ACL_COMPLEX32:
    case ACL_INT4:
    case ACL_UINT1:
      return 0;
    default:
      return (StorageBits(dtype) + 7) / 8;
  }
}

}  // namespace

aclTensor* aclCreateTensor(const int64_t* viewDims, uint64_t viewDimsNum, aclDataType dataType,
                           const int64_t* stride, int64_t offset, aclFormat format,
                           const int64_t* storageDims, uint64_t storageDimsNum, void* tensorData) {
  if ((viewDims == nullptr && viewDimsNum > 0) || (storageDims == nullptr && storageDimsNum > 0)) {
    FailNullPointer("aclCreateTensor", viewDims == nullptr && viewDimsNum > 0 ? "viewDims" : "storageDims");
    return nullptr;
  }
  if (!RankFits("aclCreateTensor", "viewDimsNum", viewDimsNum) ||
      !RankFits("aclCreateTensor", "storageDimsNum", storageDimsNum)) {
    return nullptr;
  }
  auto* tensor = new (std::nothrow) aclTensor;
  if (tensor == nullptr) {
    FailMemory("aclCreateTensor");
    return nullptr;
  }
  tensor->shape = CopyDims(viewDims, viewDimsNum);
  tensor->strides = stride == nullptr ? RowMajorStrides(tensor->shape) : CopyDims(stride, viewDimsNum);
  tensor->offset = offset;
  tensor->storage = CopyDims(storageDims, storageDimsNum);
  tensor->dtype = dataType;
  tensor->format = format;
  tensor->data = tensorData;
  tensor->Describe();
  if (sanitizer::KeepsCalls()) sanitizer::hooks->TensorMade("aclCreateTensor", tensor);
  return tensor;
}

aclnnStatus aclInitTensor(aclTensor* tensor, const int64_t* viewDims, uint64_t viewDimsNum,
                          aclDataType dataType, const int64_t* stride, int64_t offset, aclFormat format,
                          const int64_t* storageDims, uint64_t storageDimsNum, void* tensorDataAddr) {
  if (tensor == nullptr) return FailNullPointer("aclInitTensor", "tensor");
  if (!RankFits("aclInitTensor", "viewDimsNum", viewDimsNum) ||
      !RankFits("aclInitTensor", "storageDimsNum", storageDimsNum)) {
    return ACLNN_ERR_PARAM_INVALID;
  }
  if (sanitizer::KeepsCalls()) sanitizer::hooks->TensorChanged("aclInitTensor", tensor);
  ForgetShaped(tensor);
  // Keeps the dims and the address when the new ones are null. Everything else is always replaced, as in
  // CANN.
  if (viewDims != nullptr && viewDimsNum > 0) tensor->shape = CopyDims(viewDims, viewDimsNum);
  if (storageDims != nullptr && storageDimsNum > 0) tensor->storage = CopyDims(storageDims, storageDimsNum);
  if (tensorDataAddr != nullptr) tensor->data = tensorDataAddr;
  tensor->strides = stride == nullptr ? RowMajorStrides(tensor->shape)
                                      : CopyDims(stride, static_cast<uint64_t>(tensor->shape.rank));
  tensor->offset = offset;
  tensor->dtype = dataType;
  tensor->format = format;
  tensor->Describe();
  return ACL_SUCCESS;
}

aclScalar* aclCreateScalar(void* value, aclDataType dataType) {
  if (value == nullptr) {
    FailNullPointer("aclCreateScalar", "value");
    return nullptr;
  }
  const uint32_t bytes = ScalarBytes(dataType);
  if (bytes == 0) {
    Text message("aclCreateScalar: parameter dataType has the value ");
    AddDtypeName(message, dataType);
    message.Add(", accepted: every dtype but DT_STRING, DT_UNDEFINED, DT_COMPLEX32, DT_INT4 and DT_UINT1.");
    Fail(ACLNN_ERR_PARAM_INVALID, MessageClass::kUnsupportedDtype, message);
    return nullptr;
  }
  auto* scalar = new (std::nothrow) aclScalar;
  if (scalar == nullptr) {
    FailMemory("aclCreateScalar");
    return nullptr;
  }
  scalar->dtype = dataType;
  std::memcpy(scalar->value, value, bytes);
  return scalar;
}

aclIntArray* aclCreateIntArray(const int64_t* value, uint64_t size) {
  return CreateArray<aclIntArray>("aclCreateIntArray", value, size);
}

aclFloatArray* aclCreateFloatArray(const float* value, uint64_t size) {
  return CreateArray<aclFloatArray>("aclCreateFloatArray", value, size);
}

aclBoolArray* aclCreateBoolArray(const bool* value, uint64_t size) {
  return CreateArray<aclBoolArray>("aclCreateBoolArray", value, size);
}

aclTensorList* aclCreateTensorList(const aclTensor* const* value, uint64_t size) {
  return CreateArray<aclTensorList>("aclCreateTensorList", value, size);
}

aclScalarList* aclCreateScalarList(const aclScalar* const* value, uint64_t size) {
  return CreateArray<aclScalarList>("aclCreateScalarList", value, size);
}

aclnnStatus aclDestroyTensor(const aclTensor* tensor) {
  if (sanitizer::KeepsCalls() && !sanitizer::hooks->TensorGoes("aclDestroyTensor", tensor))
    return ACL_SUCCESS;
  ForgetShaped(tensor);
  return Destroy(tensor);
}
aclnnStatus aclDestroyScalar(const aclScalar* scalar) { return Destroy(scalar); }
aclnnStatus aclDestroyIntArray(const aclIntArray* array) { return Destroy(array); }
aclnnStatus aclDestroyFloatArray(const aclFloatArray* array) { return Destroy(array); }
aclnnStatus aclDestroyBoolArray(const aclBoolArray* array) { return Destroy(array); }
aclnnStatus aclDestroyTensorList(const aclTensorList* array) { return DestroyList(array, &aclDestroyTensor); }
aclnnStatus aclDestroyScalarList(const aclScalarList* array) { return DestroyList(array, &aclDestroyScalar); }

namespace {

// Copies the dims into a fresh array that the caller deletes.
aclnnStatus CopyOut(const char* api, const Shape& shape, int64_t** dims, uint64_t* count) {
  const auto rank = static_cast<size_t>(shape.rank);
  auto* copy = new (std::nothrow) int64_t[rank];
  if (copy == nullptr) {
    FailMemory(api);
    return ACLNN_ERR_INNER_NULLPTR;
  }
  for (size_t i = 0; i < rank; ++i) copy[i] = shape.dim[i];
  *dims = copy;
  *count = rank;
  return ACL_SUCCESS;
}

template <class Array>
aclnnStatus SizeOf(const char* api, const char* parameter, const Array* array, uint64_t* size) {
  if (array == nullptr) return FailNullPointer(api, parameter);
  if (size == nullptr) return FailNullPointer(api, "size");
  *size = array->values.size();
  return ACL_SUCCESS;
}

}  // namespace

aclnnStatus aclGetViewShape(const aclTensor* tensor, int64_t** viewDims, uint64_t* viewDimsNum) {
  if (tensor == nullptr) return FailNullPointer("aclGetViewShape", "tensor");
  if (viewDims == nullptr) return FailNullPointer("aclGetViewShape", "viewDims");
  if (viewDimsNum == nullptr) return FailNullPointer("aclGetViewShape", "viewDimsNum");
  return CopyOut("aclGetViewShape", tensor->shape, viewDims, viewDimsNum);
}

aclnnStatus aclGetStorageShape(const aclTensor* tensor, int64_t** storageDims, uint64_t* storageDimsNum) {
  if (tensor == nullptr) return FailNullPointer("aclGetStorageShape", "tensor");
  if (storageDims == nullptr) return FailNullPointer("aclGetStorageShape", "storageDims");
  if (storageDimsNum == nullptr) return FailNullPointer("aclGetStorageShape", "storageDimsNum");
  return CopyOut("aclGetStorageShape", tensor->storage, storageDims, storageDimsNum);
}

aclnnStatus aclGetViewStrides(const aclTensor* tensor, int64_t** stridesValue, uint64_t* stridesNum) {
  if (tensor == nullptr) return FailNullPointer("aclGetViewStrides", "tensor");
  if (stridesValue == nullptr) return FailNullPointer("aclGetViewStrides", "stridesValue");
  if (stridesNum == nullptr) return FailNullPointer("aclGetViewStrides", "stridesNum");
  return CopyOut("aclGetViewStrides", tensor->strides, stridesValue, stridesNum);
}

aclnnStatus aclGetViewOffset(const aclTensor* tensor, int64_t* offset) {
  if (tensor == nullptr) return FailNullPointer("aclGetViewOffset", "tensor");
  if (offset == nullptr) return FailNullPointer("aclGetViewOffset", "offset");
  *offset = tensor->offset;
  return ACL_SUCCESS;
}

aclnnStatus aclGetFormat(const aclTensor* tensor, aclFormat* format) {
  if (tensor == nullptr) return FailNullPointer("aclGetFormat", "tensor");
  if (format == nullptr) return FailNullPointer("aclGetFormat", "format");
  *format = IsKnownFormat(tensor->format) ? tensor->format : ACL_FORMAT_UNDEFINED;
  return ACL_SUCCESS;
}

aclnnStatus aclGetDataType(const aclTensor* tensor, aclDataType* dataType) {
  if (tensor == nullptr) return FailNullPointer("aclGetDataType", "tensor");
  if (dataType == nullptr) return FailNullPointer("aclGetDataType", "dataType");
  *dataType = IsKnownDtype(tensor->dtype) ? tensor->dtype : ACL_DT_UNDEFINED;
  return ACL_SUCCESS;
}

aclnnStatus aclGetIntArraySize(const aclIntArray* array, uint64_t* size) {
  return SizeOf("aclGetIntArraySize", "array", array, size);
}

aclnnStatus aclGetFloatArraySize(const aclFloatArray* array, uint64_t* size) {
  return SizeOf("aclGetFloatArraySize", "array", array, size);
}

aclnnStatus aclGetBoolArraySize(const aclBoolArray* array, uint64_t* size) {
  return SizeOf("aclGetBoolArraySize", "array", array, size);
}

aclnnStatus aclGetTensorListSize(const aclTensorList* tensorList, uint64_t* size) {
  return SizeOf("aclGetTensorListSize", "tensorList", tensorList, size);
}

aclnnStatus aclGetScalarListSize(const aclScalarList* scalarList, uint64_t* size) {
  return SizeOf("aclGetScalarListSize", "scalarList", scalarList, size);
}

aclnnStatus aclSetRawTensorAddr(aclTensor* tensor, void* addr) {
  if (tensor == nullptr) return FailNullPointer("aclSetRawTensorAddr", "tensor");
  if (sanitizer::KeepsCalls()) sanitizer::hooks->TensorChanged("aclSetRawTensorAddr", tensor);
  tensor->data = addr;
  return ACL_SUCCESS;
}

aclnnStatus aclGetRawTensorAddr(const aclTensor* tensor, void** addr) {
  if (tensor == nullptr) return FailNullPointer("aclGetRawTensorAddr", "tensor");
  if (addr == nullptr) return FailNullPointer("aclGetRawTensorAddr", "addr");
  *addr = tensor->data;
  return ACL_SUCCESS;
}
