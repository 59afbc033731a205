// aclnnop/aclnn_ceil.h: aclnnCeil and aclnnInplaceCeil, rounding up.
// SPDX-License-Identifier: Apache-2.0
//
//   out = the smallest integer that is not below self
//
// Values: exact; what is between -1 and 0 gives -0.
// Types
//   self     floats, DOUBLE.
//   out      self's type.
//   selfRef  floats and DOUBLE of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_CEIL_H_
#define PORTACL_ACLNNOP_ACLNN_CEIL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnCeilGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCeil(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceCeilGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceCeil(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CEIL_H_
