// aclnnop/aclnn_expm1.h: aclnnExpm1 and aclnnInplaceExpm1, e^x - 1.
// SPDX-License-Identifier: Apache-2.0
//
//   out = e^self - 1
//
// Values: accurate near 0, where it keeps the sign of zero; -1 at -infinity.
// Types
//   self     floats, INT64, BOOL. Int as FLOAT.
//   out      any type that self's, or FLOAT for an integer or BOOL, casts to.
//   selfRef  floats.
#ifndef PORTACL_ACLNNOP_ACLNN_EXPM1_H_
#define PORTACL_ACLNNOP_ACLNN_EXPM1_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnExpm1GetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnExpm1(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceExpm1GetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceExpm1(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EXPM1_H_
