// aclnnop/aclnn_bitwise_or_scalar.h: aclnnBitwiseOrScalar and aclnnInplaceBitwiseOrScalar, the bitwise or of a tensor and a
// scalar.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self | other
//
// Values: of BOOL the logical or.
// Types
//   self, other  integers, UINT16, BOOL; on Ascend 950 also UINT32 and UINT64.
//   P            on Ascend 950 self's type, where that is BOOL other's. Else STT, but INT32 stands for an INT64 scalar whose
//                value it holds. The scalar wraps to P.
//   out          any type that P casts to: BOOL for BOOL alone.
#ifndef PORTACL_ACLNNOP_ACLNN_BITWISE_OR_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_BITWISE_OR_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self     first operand
//   other    second operand, scalar
//   out      result
//   selfRef  first operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self or other is not in the list
//   161002  the types of self and other do not promote
//   161002  P does not cast to out's type
//   161002  self or out has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnBitwiseOrScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                           aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBitwiseOrScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceBitwiseOrScalarGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other,
                                                                  uint64_t* workspaceSize,
                                                                  aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceBitwiseOrScalar(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BITWISE_OR_SCALAR_H_
