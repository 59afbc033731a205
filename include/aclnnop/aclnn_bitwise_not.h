// aclnnop/aclnn_bitwise_not.h: aclnnBitwiseNot, the complement of each element.
// SPDX-License-Identifier: Apache-2.0
//
//   out = ~self; BOOL: not self
//
// Types
//   self  integers, BOOL; Ascend 950 also unsigned.
//   out   self's type.
#ifndef PORTACL_ACLNNOP_ACLNN_BITWISE_NOT_H_
#define PORTACL_ACLNNOP_ACLNN_BITWISE_NOT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// Codes, after those that all operators share, in this order:
//   561103  self or out is null (not 161001)
//   161002  self's type is not in its list, or out's is not the same
//   161002  a private storage format of self or out
//   161002  self or out has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnBitwiseNotGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBitwiseNot(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BITWISE_NOT_H_
