// aclnnop/aclnn_lt_tensor.h: aclnnLtTensor and aclnnInplaceLtTensor, the comparison < of two tensors.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self < other: 1 or 0, in out's type
//
// Values: exact comparison of the operands converted to P; a NaN gives 0. There is no order of complex numbers.
// Types
//   self, other  floats, DOUBLE, integers, unsigned, BOOL.
//   P            promotion of two tensors; on Ascend 950 "0-dim as scalar".
//   out          the same list, on Ascend 950 also complex.
#ifndef PORTACL_ACLNNOP_ACLNN_LT_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_LT_TENSOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   out          result
//   selfRef      first operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self or other is not in the list, or P is undefined; on Ascend 950 P is not in it
//   161002  out's type is not in its list
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnLtTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                    aclTensor* out, uint64_t* workspaceSize,
                                                    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLtTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLtTensorGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* other,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLtTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LT_TENSOR_H_
