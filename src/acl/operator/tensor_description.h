// Descriptions of tensors for operators that are called by the name of their type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "base/text.h"

struct aclTensorDesc {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims;
  // The storage's format and dims, if the program says that they differ. Private formats are dense here, so
  // that only messages depend on them.
  aclFormat storage_format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> storage_dims;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
  std::string name;
};

namespace portacl {

// Computes the number of elements; returns false if a dim is unknown (negative) or the number overflows.
bool CountElements(const aclTensorDesc& description, size_t* count) noexcept;

// Computes the bytes of `elements` elements, packed types rounded up; returns false if the type has no size or
// they overflow.
bool CountBytes(aclDataType dtype, size_t elements, size_t* bytes) noexcept;

// "DT_FLOAT [2, 3]", or "DT_FLOAT [2, 3] FRACTAL_NZ".
void AddDescription(Text& text, const aclTensorDesc& description) noexcept;

}  // namespace portacl
