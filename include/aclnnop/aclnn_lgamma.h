// aclnnop/aclnn_lgamma.h: aclnnLgamma and aclnnInplaceLgamma, the logarithm of the absolute value of the gamma function.
// SPDX-License-Identifier: Apache-2.0
//
//   out = log|gamma(self)|
//
// Values: +infinity at 0, at negative integers and at both infinities. Near a zero of the function the error is bounded in
//   absolute terms.
// Types
//   self     FLOAT, FLOAT16, DOUBLE on every product.
//   out      self's type.
//   selfRef  that list.
// Formats: self and out have the same, else 161002.
#ifndef PORTACL_ACLNNOP_ACLNN_LGAMMA_H_
#define PORTACL_ACLNNOP_ACLNN_LGAMMA_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnLgammaGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                  uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLgamma(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLgammaGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                         aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLgamma(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LGAMMA_H_
