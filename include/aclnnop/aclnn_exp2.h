// aclnnop/aclnn_exp2.h: aclnnExp2 and aclnnInplaceExp2, the power of 2.
// SPDX-License-Identifier: Apache-2.0
//
//   out = 2^self
//
// Values: exact for integral arguments, gradual underflow included.
// Types
//   self     floats, DOUBLE, integers, BOOL. Int as FLOAT.
//   out      any type that self's, or FLOAT for an integer or BOOL, casts to.
//   selfRef  floats and DOUBLE of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_EXP2_H_
#define PORTACL_ACLNNOP_ACLNN_EXP2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnExp2GetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnExp2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceExp2GetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceExp2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EXP2_H_
