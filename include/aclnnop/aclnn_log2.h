// aclnnop/aclnn_log2.h: aclnnLog2 and aclnnInplaceLog2, the logarithm to base 2.
// SPDX-License-Identifier: Apache-2.0
//
//   out = log2(self)
//
// Values: -infinity at 0, NaN for what is negative; powers of 2 give their exponents exactly. out is written, although CANN
//   declares it const.
// Types
//   self     floats, DOUBLE, complex, integers, BOOL. Int as FLOAT.
//   out      floats, DOUBLE, complex, and such that self's type casts to it.
//   selfRef  floats, DOUBLE and complex of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_LOG2_H_
#define PORTACL_ACLNNOP_ACLNN_LOG2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnLog2GetWorkspaceSize(const aclTensor* self, const aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLog2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLog2GetWorkspaceSize(const aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLog2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOG2_H_
