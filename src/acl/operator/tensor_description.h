// Descriptions of tensors for operators that are called by the name of their type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "acl/text.h"

struct aclTensorDesc {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  // Of the storage, where the program says that it differs. Private formats are dense here, so that nothing but
  // messages depends on it.
  aclFormat storage_format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> storage_dims;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::string name;
};

namespace portacl {

// The number of elements; false when a dim is unknown (negative) or the number does not fit.
bool CountElements(const aclTensorDesc& description, size_t* count) noexcept;

// The bytes of so many elements, packed types rounded up; false when the type has no size or they do not fit.
bool CountBytes(aclDataType dtype, size_t elements, size_t* bytes) noexcept;

// "DT_FLOAT [2, 3]", or "DT_FLOAT [2, 3] FRACTAL_NZ".
void AddDescription(Text& text, const aclTensorDesc& description) noexcept;

}  // namespace portacl
