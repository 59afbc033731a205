// aclnnop/aclnn_softplus.h: aclnnSoftplus, a smooth positive part.
// SPDX-License-Identifier: Apache-2.0
//
//   out = beta self > threshold ? self : log(1 + exp(beta self)) / beta
//
// Values: rounded once. Infinite where exp overflows in FLOAT and threshold lets it; beta of 0 is no error.
// Types
//   self             floats.
//   beta, threshold  real; taken as FLOAT.
//   out              any type that self's casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_SOFTPLUS_H_
#define PORTACL_ACLNNOP_ACLNN_SOFTPLUS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self       operand
//   beta       scalar
//   threshold  scalar
//   out        result
// Codes, after those that all operators share, in this order:
//   161001  self, beta, threshold or out is null
//   161002  self's type is not in its list
//   161002  beta or threshold is complex
//   161002  self's type does not cast to out's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnSoftplusGetWorkspaceSize(const aclTensor* self, const aclScalar* beta,
                                                    const aclScalar* threshold, aclTensor* out,
                                                    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSoftplus(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SOFTPLUS_H_
