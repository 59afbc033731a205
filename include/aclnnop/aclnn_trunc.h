// aclnnop/aclnn_trunc.h: aclnnTrunc and aclnnInplaceTrunc, rounding toward zero.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self without its fraction
//
// Values: exact; the sign of zero stays; integers are copied.
// Types
//   self     Atlas A2 and A3 floats; Ascend 950 also INT8, UINT8, INT32; older products FLOAT, FLOAT16.
//   out      self's type.
//   selfRef  the floats of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_TRUNC_H_
#define PORTACL_ACLNNOP_ACLNN_TRUNC_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnTruncGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTrunc(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceTruncGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceTrunc(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TRUNC_H_
