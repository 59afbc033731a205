// aclnnop/aclnn_log10.h: aclnnLog10 and aclnnInplaceLog10, the logarithm to base 10.
// SPDX-License-Identifier: Apache-2.0
//
//   out = log10(self)
//
// Values: -infinity at 0, NaN for what is negative.
// Types
//   self     floats, DOUBLE, complex, integers, BOOL; BF16 everywhere. Int as FLOAT.
//   out      self's type, FLOAT for an integer or BOOL.
//   selfRef  floats, DOUBLE, complex; BF16 on newer products alone.
#ifndef PORTACL_ACLNNOP_ACLNN_LOG10_H_
#define PORTACL_ACLNNOP_ACLNN_LOG10_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnLog10GetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLog10(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLog10GetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLog10(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOG10_H_
