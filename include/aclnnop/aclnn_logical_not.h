// aclnnop/aclnn_logical_not.h: aclnnLogicalNot and aclnnInplaceLogicalNot, whether elements are 0.
// SPDX-License-Identifier: Apache-2.0
//
//   out = not self: 1 or 0 in out's type
//
// Values: what is not 0 is true, NaN too.
// Types
//   self, out  floats, DOUBLE, integers, BOOL; BF16 everywhere.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGICAL_NOT_H_
#define PORTACL_ACLNNOP_ACLNN_LOGICAL_NOT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  out's shape is not self's
//   161002  the type of self or out is not in the list
//   161002  self has more than 8 dimensions, where self and out are not both dense
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnLogicalNotGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogicalNot(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLogicalNotGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLogicalNot(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGICAL_NOT_H_
