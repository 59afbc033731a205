// aclnnop/aclnn_sinc.h: aclnnSinc and aclnnInplaceSinc, the cardinal sine.
// SPDX-License-Identifier: Apache-2.0
//
//   out = sin(pi * self) / (pi * self), 1 at 0
//
// Values: NaN at infinities, as PyTorch's.
// Types
//   self     floats, DOUBLE, integers, BOOL. Int as FLOAT.
//   out      in a list: floats, DOUBLE, BF16 everywhere.
//   selfRef  floats and DOUBLE of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_SINC_H_
#define PORTACL_ACLNNOP_ACLNN_SINC_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
// Codes: a null self, out or selfRef is 561103, not 161001.
ACLNN_API aclnnStatus aclnnSincGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSinc(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceSincGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceSinc(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SINC_H_
