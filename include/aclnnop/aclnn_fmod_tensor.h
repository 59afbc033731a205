// aclnnop/aclnn_fmod_tensor.h: aclnnFmodTensor and aclnnInplaceFmodTensor, the remainder with the dividend's sign.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self - trunc(self / other) * other, exactly
//
// Values: C's fmod, exactly, with the sign of self. NaN for an infinite self or a zero other; self for an infinite other.
//   Integers by 0 give all bits 1.
// Types
//   self, other  floats, DOUBLE, INT8, UINT8, INT32, INT64.
//   P            promotion of two tensors.
//   out          the same list, whether P casts to it or not: FLOAT into INT32 is truncated.
#ifndef PORTACL_ACLNNOP_ACLNN_FMOD_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_FMOD_TENSOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  dividend and divisor
//   out          result
//   selfRef      dividend and result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self, other or out is not in the list
//   161002  the types do not promote, or to INT16 (INT8 with UINT8)
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnFmodTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                      aclTensor* out, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFmodTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceFmodTensorGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceFmodTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FMOD_TENSOR_H_
