// aclnnop/aclnn_eq_tensor.h: aclnnEqTensor and aclnnInplaceEqTensor, the comparison == of two tensors.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self == other: 1 or 0, in out's type
//
// Values: exact comparison of the operands converted to P; a NaN gives 0. Complex numbers are compared by both parts.
// Types
//   self, other  the arithmetic types; on Ascend 950 also UINT64; on Atlas 910 UINT32 and UINT64, also on Atlas 310P and
//                310B.
//   P            promotion of two tensors; on Ascend 950 "0-dim as scalar".
//   out          the same list, on Ascend 950 also UINT16 and UINT32.
#ifndef PORTACL_ACLNNOP_ACLNN_EQ_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_EQ_TENSOR_H_

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
//   161002  P is undefined or not in the list; on Ascend 950 the type of self or other is not in it
//   161002  out's type is not in its list
//   161002  self, other or out has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnEqTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                    aclTensor* out, uint64_t* workspaceSize,
                                                    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnEqTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceEqTensorGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* other,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceEqTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EQ_TENSOR_H_
