// The objects behind the aclnn handles: aclTensor, aclScalar, arrays and lists.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "aclnn/acl_meta.h"
#include "plan/strided_view.h"

// A view over storage that the caller owns. Nothing is validated at creation, as in CANN; operators check.
// Computing takes the view alone. One of a private format is dense.
struct aclTensor : portacl::StridedView {
  portacl::Shape storage;
  aclFormat format = ACL_FORMAT_ND;
  void* data = nullptr;  // storage base; the offset is not applied

  // Works out what follows from all but storage and address.
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
  std::vector<unsigned char> values;  // not vector<bool>: one byte per element, as in the C interface
};

// Lists own their elements; an element may be null.
struct aclTensorList {
  std::vector<const aclTensor*> values;
};

struct aclScalarList {
  std::vector<const aclScalar*> values;
};
