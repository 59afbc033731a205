// aclnnop/aclnn_bitwiseand.h: aclnnBitwiseAndTensorOut and aclnnInplaceBitwiseAndTensorOut, the bitwise and of two tensors of
// one format.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self & other
//
// Values: of BOOL the logical and.
// Types
//   self, other  INT8, INT16, INT32, INT64, UINT8, UINT16, BOOL.
//   P            promotion of two tensors.
//   out          any type that P casts to: BOOL for BOOL alone.
#ifndef PORTACL_ACLNNOP_ACLNN_BITWISEAND_H_
#define PORTACL_ACLNNOP_ACLNN_BITWISEAND_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self   first operand; in place also the result, although CANN declares it const
//   other  second operand
//   out    result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self or other is not in the list
//   161002  the types of self and other do not promote
//   161002  P does not cast to out's type
//   161002  the storage formats of self, other and out differ, or are private
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnBitwiseAndTensorOutGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                               aclTensor* out, uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBitwiseAndTensorOut(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceBitwiseAndTensorOutGetWorkspaceSize(const aclTensor* self,
                                                                      const aclTensor* other,
                                                                      uint64_t* workspaceSize,
                                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceBitwiseAndTensorOut(void* workspace, uint64_t workspaceSize,
                                                      aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BITWISEAND_H_
