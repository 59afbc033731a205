// aclnnop/aclnn_log1p.h: aclnnLog1p and aclnnInplaceLog1p, the logarithm of 1 + x.
// SPDX-License-Identifier: Apache-2.0
//
//   out = log(1 + self)
//
// Values: accurate near 0, where it keeps the sign of zero; -infinity at -1, NaN below.
// Types
//   self     floats, DOUBLE, integers, BOOL. Int as out.
//   out      in a list: floats, DOUBLE.
//   selfRef  floats and DOUBLE of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_LOG1P_H_
#define PORTACL_ACLNNOP_ACLNN_LOG1P_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnLog1pGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLog1p(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLog1pGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLog1p(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOG1P_H_
