// aclnnop/aclnn_logical_xor.h: aclnnLogicalXor, whether one of two elements is true, but not both.
// SPDX-License-Identifier: Apache-2.0
//
//   out = either self or other: 1 or 0 in out's type
//
// Values: what is not 0 is true, NaN too, and a complex number of which either part is not 0. Any two types of the list
//   combine; nothing is promoted.
// Types
//   self, other, out  the arithmetic types.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGICAL_XOR_H_
#define PORTACL_ACLNNOP_ACLNN_LOGICAL_XOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   out          result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self, other or out is not in the list
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
//   161002  a complex operand has 8 dimensions
ACLNN_API aclnnStatus aclnnLogicalXorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                      aclTensor* out, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogicalXor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGICAL_XOR_H_
