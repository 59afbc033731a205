// aclnnop/aclnn_celu.h: aclnnCelu and aclnnInplaceCelu, an exponential where the operand is negative.
// SPDX-License-Identifier: Apache-2.0
//
//   out = max(0, self) + min(0, alpha (exp(self / alpha) - 1))
//
// Values: rounded once.
// Types
//   self, selfRef  floats; BF16 on Atlas 200I/500 A2 too.
//   alpha          real, not 0 and not NaN; taken as FLOAT.
//   out            any type that self's casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_CELU_H_
#define PORTACL_ACLNNOP_ACLNN_CELU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self     operand
//   alpha    scalar
//   out      result
//   selfRef  operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, alpha or out is null
//   161002  self's type is not in its list
//   161002  alpha is complex
//   161002  alpha is 0 or NaN
//   161002  self's type does not cast to out's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnCeluGetWorkspaceSize(const aclTensor* self, const aclScalar* alpha, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceCeluGetWorkspaceSize(aclTensor* selfRef, const aclScalar* alpha,
                                                       uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceCelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CELU_H_
