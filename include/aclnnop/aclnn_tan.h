// aclnnop/aclnn_tan.h: aclnnTan and aclnnInplaceTan, the tangent.
// SPDX-License-Identifier: Apache-2.0
//
//   out = tan(self), self in radians
//
// Values: the argument is reduced exactly, however large it is; NaN at infinities; -0 at -0.
// Types
//   self     floats, DOUBLE, complex, integers, BOOL. Int as FLOAT.
//   out      any type that self's, or FLOAT for an integer or BOOL, casts to.
//   selfRef  floats, DOUBLE and complex of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_TAN_H_
#define PORTACL_ACLNNOP_ACLNN_TAN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnTanGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTan(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceTanGetWorkspaceSize(const aclTensor* selfRef, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceTan(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TAN_H_
