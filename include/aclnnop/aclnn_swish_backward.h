// aclnnop/aclnn_swish_backward.h: aclnnSwishBackward, the gradient of aclnnSwish for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput s (1 + beta self (1 - s)),   s = 1 / (1 + exp(-beta self))
//
// Values: as in IEEE 754 the formula is. Rounded once. beta is taken as FLOAT.
// Types
//   gradOutput, self, gradInput  floats, one type.
//   betaOptional                 real.
#ifndef PORTACL_ACLNNOP_ACLNN_SWISH_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SWISH_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput    gradient of the result
//   self          operand of the function
//   betaOptional  beta, scalar; null: 1
//   gradInput     result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self or gradInput is null
//   161002  gradOutput's type is not in its list
//   161002  the three types are not one
//   161002  gradOutput or self has more than 8 dimensions
//   161002  the three shapes are not one
//   161002  betaOptional is complex
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnSwishBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                         const aclScalar* betaOptional, aclTensor* gradInput,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSwishBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SWISH_BACKWARD_H_
