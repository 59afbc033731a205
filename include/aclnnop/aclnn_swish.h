// aclnnop/aclnn_swish.h: aclnnSwish, the operand times the logistic function of a multiple of it.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self / (1 + exp(-beta self))
//
// Values: as in IEEE 754 the formula is. Within 2 units in the last place. beta is taken as FLOAT.
// Types
//   self          floats.
//   betaOptional  real.
//   out           self's.
#ifndef PORTACL_ACLNNOP_ACLNN_SWISH_H_
#define PORTACL_ACLNNOP_ACLNN_SWISH_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self          operand
//   betaOptional  beta, scalar; null: 1
//   out           result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in its list
//   161002  out's type is not self's
//   161002  self or out has more than 8 dimensions
//   161002  betaOptional is complex
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnSwishGetWorkspaceSize(const aclTensor* self, const aclScalar* betaOptional,
                                                 aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSwish(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SWISH_H_
