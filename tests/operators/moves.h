// Copies, casts and fills as the tests see them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/families/creation.h"
#include "support/operator_under_test.h"

namespace portacl::testing {

// NOLINTBEGIN(readability-identifier-length)
inline OperatorBinding BindInplaceCopy() {
  OperatorBinding binding;
  binding.name = "aclnnInplaceCopy";
  binding.tensors = {"selfRef", "src"};
  binding.output = 0;
  binding.plan = [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                    aclOpExecutor** executor) {
    return aclnnInplaceCopyGetWorkspaceSize(t[0], t[1], size, executor);
  };
  binding.run = aclnnInplaceCopy;
  return binding;
}

// To the dtype that the attributes say, or to out's.
inline OperatorBinding BindCast() {
  OperatorBinding binding;
  binding.name = "aclnnCast";
  binding.tensors = {"self", "out"};
  binding.output = 1;
  binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                    aclOpExecutor** executor) {
    aclDataType dtype = ACL_FLOAT;
    if (t[1] != nullptr) aclGetDataType(t[1], &dtype);
    return aclnnCastGetWorkspaceSize(t[0], a.dtype ? AsAclDataType(*a.dtype) : dtype, t[1], size, executor);
  };
  binding.run = aclnnCast;
  return binding;
}

// With the scalar of the attributes; without one, with the INT64 3 (of selfRef's dtype where that does not promote).
inline OperatorBinding BindInplaceFillScalar() {
  OperatorBinding binding;
  binding.name = "aclnnInplaceFillScalar";
  binding.tensors = {"selfRef"};
  binding.output = 0;
  binding.plan = [](std::span<aclTensor* const> t, const Attributes& a, uint64_t* size,
                    aclOpExecutor** executor) {
    if (a.scalar) return aclnnInplaceFillScalarGetWorkspaceSize(t[0], *a.scalar, size, executor);
    int64_t three[2] = {3, 0};
    aclDataType dtype = ACL_INT64;
    if (t[0] != nullptr) aclGetDataType(t[0], &dtype);
    const bool alone = dtype == ACL_UINT16 || dtype == ACL_UINT32 || dtype == ACL_UINT64;
    aclScalar* value = aclCreateScalar(three, alone ? dtype : ACL_INT64);
    const aclnnStatus status = aclnnInplaceFillScalarGetWorkspaceSize(t[0], value, size, executor);
    aclDestroyScalar(value);
    return status;
  };
  binding.run = aclnnInplaceFillScalar;
  return binding;
}

inline OperatorBinding BindInplaceFillTensor() {
  OperatorBinding binding;
  binding.name = "aclnnInplaceFillTensor";
  binding.tensors = {"selfRef", "value"};
  binding.output = 0;
  binding.plan = [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                    aclOpExecutor** executor) {
    return aclnnInplaceFillTensorGetWorkspaceSize(t[0], t[1], size, executor);
  };
  binding.run = aclnnInplaceFillTensor;
  return binding;
}

inline OperatorBinding BindInplaceZero() {
  OperatorBinding binding;
  binding.name = "aclnnInplaceZero";
  binding.tensors = {"selfRef"};
  binding.output = 0;
  binding.plan = [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                    aclOpExecutor** executor) {
    return aclnnInplaceZeroGetWorkspaceSize(t[0], size, executor);
  };
  binding.run = aclnnInplaceZero;
  return binding;
}

inline OperatorBinding BindInplaceOne() {
  OperatorBinding binding;
  binding.name = "aclnnInplaceOne";
  binding.tensors = {"selfRef"};
  binding.output = 0;
  binding.plan = [](std::span<aclTensor* const> t, const Attributes&, uint64_t* size,
                    aclOpExecutor** executor) {
    return aclnnInplaceOneGetWorkspaceSize(t[0], size, executor);
  };
  binding.run = aclnnInplaceOne;
  return binding;
}
// NOLINTEND(readability-identifier-length)

}  // namespace portacl::testing
