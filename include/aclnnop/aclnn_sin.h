// aclnnop/aclnn_sin.h: aclnnSin and aclnnInplaceSin, the sine.
// SPDX-License-Identifier: Apache-2.0
//
//   out = sin(self), self in radians
//
// Values: the argument is reduced exactly, however large it is; NaN at infinities; -0 at -0.
// Types
//   self     floats, DOUBLE, complex, integers, BOOL. Int as FLOAT.
//   out      in a list: floats, DOUBLE, complex, BF16 everywhere.
//   selfRef  floats, DOUBLE and complex of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_SIN_H_
#define PORTACL_ACLNNOP_ACLNN_SIN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnSinGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSin(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceSinGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceSin(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SIN_H_
