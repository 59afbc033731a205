// aclnnop/aclnn_bitwise_or_tensor.h: aclnnBitwiseOrTensor and aclnnInplaceBitwiseOrTensor, the bitwise or of two tensors.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self | other
//
// Values: of BOOL the logical or.
// Types
//   self, other  integers, unsigned, BOOL.
//   P            promotion of two tensors.
//   out          any type that P casts to: BOOL for BOOL alone.
#ifndef PORTACL_ACLNNOP_ACLNN_BITWISE_OR_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_BITWISE_OR_TENSOR_H_

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
//   161002  the type of self or other is not in the list
//   161002  the types of self and other do not promote
//   161002  P does not cast to out's type
//   161002  self, other or out has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnBitwiseOrTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                           aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBitwiseOrTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceBitwiseOrTensorGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other,
                                                                  uint64_t* workspaceSize,
                                                                  aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceBitwiseOrTensor(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BITWISE_OR_TENSOR_H_
