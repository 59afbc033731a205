// aclnnop/aclnn_erf.h: aclnnErf and aclnnInplaceErf, the error function.
// SPDX-License-Identifier: Apache-2.0
//
//   out = erf(self) = 2 / sqrt(pi) times the integral of e^(-t^2) from 0 to self
//
// Values: -1 and 1 at infinities; -0 at -0.
// Types
//   self     floats, DOUBLE, INT64, BOOL. Int as FLOAT.
//   out      any type that self's, or FLOAT for an integer or BOOL, casts to.
//   selfRef  floats and DOUBLE of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_ERF_H_
#define PORTACL_ACLNNOP_ACLNN_ERF_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnErfGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnErf(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceErfGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceErf(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ERF_H_
