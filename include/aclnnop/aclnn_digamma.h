// aclnnop/aclnn_digamma.h: aclnnDigamma and aclnnInplaceDigamma, the logarithmic derivative of the gamma function.
// SPDX-License-Identifier: Apache-2.0
//
//   out = psi(self) = gamma'(self) / gamma(self)
//
// Values: NaN at negative integers and -infinity; infinity of the opposite sign at +0 and -0. Near a zero of the function the
//   error is bounded in absolute terms.
// Types
//   self     FLOAT, FLOAT16, DOUBLE on every product.
//   out      self's type.
//   selfRef  that list.
// Formats: self and out have the same, else 161002.
#ifndef PORTACL_ACLNNOP_ACLNN_DIGAMMA_H_
#define PORTACL_ACLNNOP_ACLNN_DIGAMMA_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
ACLNN_API aclnnStatus aclnnDigammaGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                   uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDigamma(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceDigammaGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                          aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceDigamma(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DIGAMMA_H_
