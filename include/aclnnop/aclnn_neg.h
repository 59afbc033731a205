// aclnnop/aclnn_neg.h: aclnnNeg and aclnnInplaceNeg, the negative of each element.
// SPDX-License-Identifier: Apache-2.0
//
//   out = -self
//
// Values: the sign bit is turned over, that of a zero or NaN too; integers modulo 2^n, in self's type, before they are
//   converted to out's.
// Types
//   self     floats, DOUBLE, complex, INT8, INT32, INT64.
//   out      any type that self's casts to.
//   selfRef  self's types, integers included.
#ifndef PORTACL_ACLNNOP_ACLNN_NEG_H_
#define PORTACL_ACLNNOP_ACLNN_NEG_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnNegGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNeg(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceNegGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceNeg(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NEG_H_
