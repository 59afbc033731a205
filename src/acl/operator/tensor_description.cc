// Descriptions of tensors: created, queried, changed (acl_base_mdl.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/operator/tensor_description.h"

#include <memory>
#include <new>

#include "base/data_type.h"
#include "base/errors.h"

namespace portacl {
namespace {

aclError FailNoDescription(const char* api) noexcept {
  return FailNullPointer(api, "desc", "a description from aclCreateTensorDesc");
}

aclError CheckDims(const char* api, int num_dims, const int64_t* dims) noexcept {
  if (num_dims < 0)
    return FailValue(api, "numDims", num_dims, "0 or a positive number", ACL_ERROR_INVALID_PARAM);
  if (num_dims > 0 && dims == nullptr) return FailNullPointer(api, "dims", "an array of numDims dims");
  return ACL_SUCCESS;
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_BAD_ALLOC, MessageClass::kAclInner, Text(api, ": not enough memory."));
}

}  // namespace

bool CountElements(const aclTensorDesc& description, size_t* count) noexcept {
  size_t product = 1;
  bool empty = false;
  bool fits = true;
  for (const int64_t dim : description.dims) {
    if (dim < 0) return false;
    empty = empty || dim == 0;
    fits = !__builtin_mul_overflow(product, static_cast<size_t>(dim), &product) && fits;
  }
  *count = empty ? 0 : product;
  return empty || fits;
}

bool CountBytes(aclDataType dtype, size_t elements, size_t* bytes) noexcept {
  const size_t bits_of_one = StorageBits(dtype);
  size_t bits = 0;
  if (bits_of_one == 0) return false;
  if (bits_of_one % 8 == 0) return !__builtin_mul_overflow(elements, bits_of_one / 8, bytes);
  if (__builtin_mul_overflow(elements, bits_of_one, &bits)) return false;
  *bytes = bits / 8 + (bits % 8 != 0 ? 1 : 0);
  return true;
}

void AddDescription(Text& text, const aclTensorDesc& description) noexcept {
  AddDtypeName(text, description.dtype);
  text.Add(" [");
  for (size_t i = 0; i < description.dims.size(); ++i) {
    if (i > 0) text.Add(", ");
    text.Add(description.dims[i]);
  }
  text.Add("]");
  if (description.storage_format == ACL_FORMAT_UNDEFINED || description.storage_format == description.format)
    return;
  text.Add(" ");
  AddFormatName(text, description.storage_format);
}

}  // namespace portacl

using namespace portacl;

aclTensorDesc* aclCreateTensorDesc(aclDataType dataType, int numDims, const int64_t* dims, aclFormat format) {
  const char* const api = "aclCreateTensorDesc";
  if (CheckDims(api, numDims, dims) != ACL_SUCCESS) return nullptr;
  try {
    auto created = std::make_unique<aclTensorDesc>();
    created->dtype = dataType;
    created->format = format;
    created->dims.assign(dims, dims + numDims);
    return created.release();
  } catch (...) {
    FailNoMemory(api);
    return nullptr;
  }
}

void aclDestroyTensorDesc(const aclTensorDesc* desc) { delete desc; }

aclDataType aclGetTensorDescType(const aclTensorDesc* desc) {
  if (desc != nullptr) return desc->dtype;
  FailNoDescription("aclGetTensorDescType");
  return ACL_DT_UNDEFINED;
}

aclFormat aclGetTensorDescFormat(const aclTensorDesc* desc) {
  if (desc != nullptr) return desc->format;
  FailNoDescription("aclGetTensorDescFormat");
  return ACL_FORMAT_UNDEFINED;
}

size_t aclGetTensorDescNumDims(const aclTensorDesc* desc) {
  if (desc == nullptr) {
    FailNoDescription("aclGetTensorDescNumDims");
    return 0;
  }
  constexpr int64_t kUnknownRank = -2;
  if (desc->dims.size() == 1 && desc->dims[0] == kUnknownRank) return ACL_UNKNOWN_RANK;
  return desc->dims.size();
}

aclError aclGetTensorDescDimV2(const aclTensorDesc* desc, size_t index, int64_t* dimSize) {
  const char* const api = "aclGetTensorDescDimV2";
  if (desc == nullptr) return FailNoDescription(api);
  if (dimSize == nullptr) return FailNullPointer(api, "dimSize", "the address of an int64_t");
  if (index >= desc->dims.size()) {
    return FailValue(api, "index", index,
                     Text("less than the number of dims, which is ", desc->dims.size()).view(),
                     ACL_ERROR_INVALID_PARAM);
  }
  *dimSize = desc->dims[index];
  return ACL_SUCCESS;
}

size_t aclGetTensorDescElementCount(const aclTensorDesc* desc) {
  if (desc == nullptr) {
    FailNoDescription("aclGetTensorDescElementCount");
    return 0;
  }
  size_t count = 0;
  return CountElements(*desc, &count) ? count : 0;
}

size_t aclGetTensorDescSize(const aclTensorDesc* desc) {
  if (desc == nullptr) {
    FailNoDescription("aclGetTensorDescSize");
    return 0;
  }
  size_t count = 0;
  size_t bytes = 0;
  return CountElements(*desc, &count) && CountBytes(desc->dtype, count, &bytes) ? bytes : 0;
}

void aclSetTensorDescName(aclTensorDesc* desc, const char* name) {
  const char* const api = "aclSetTensorDescName";
  if (desc == nullptr) {
    FailNoDescription(api);
    return;
  }
  try {
    desc->name = name == nullptr ? "" : name;
  } catch (...) {
    FailNoMemory(api);
  }
}

const char* aclGetTensorDescName(aclTensorDesc* desc) {
  if (desc != nullptr) return desc->name.c_str();
  FailNoDescription("aclGetTensorDescName");
  return "";
}

aclError aclSetTensorFormat(aclTensorDesc* desc, aclFormat format) {
  if (desc == nullptr) return FailNoDescription("aclSetTensorFormat");
  desc->storage_format = format;
  return ACL_SUCCESS;
}

aclError aclSetTensorShape(aclTensorDesc* desc, int numDims, const int64_t* dims) {
  const char* const api = "aclSetTensorShape";
  if (desc == nullptr) return FailNoDescription(api);
  if (aclError status = CheckDims(api, numDims, dims)) return status;
  try {
    desc->storage_dims.assign(dims, dims + numDims);
    return ACL_SUCCESS;
  } catch (...) {
    return FailNoMemory(api);
  }
}

aclError aclSetTensorPlaceMent(aclTensorDesc* desc, aclMemType memType) {
  const char* const api = "aclSetTensorPlaceMent";
  if (desc == nullptr) return FailNoDescription(api);
  if (memType < ACL_MEMTYPE_DEVICE || memType > ACL_MEMTYPE_HOST_COMPILE_INDEPENDENT) {
    return FailValue(api, "memType", static_cast<int>(memType), "0 to 2", ACL_ERROR_INVALID_PARAM);
  }
  desc->placement = memType;
  return ACL_SUCCESS;
}
