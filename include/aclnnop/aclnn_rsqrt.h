// aclnnop/aclnn_rsqrt.h: aclnnRsqrt and aclnnInplaceRsqrt, the reciprocal of the square root.
// SPDX-License-Identifier: Apache-2.0
//
//   out = 1 / sqrt(self)
//
// Values: infinity with the sign of self at +0 and -0, NaN for what is negative.
// Types
//   self     floats, DOUBLE, complex, integers, BOOL. Int as out.
//   out      in a list: floats, DOUBLE, complex, BF16 everywhere.
//   selfRef  floats, DOUBLE and complex of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_RSQRT_H_
#define PORTACL_ACLNNOP_ACLNN_RSQRT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnRsqrtGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRsqrt(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRsqrtGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRsqrt(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RSQRT_H_
