// aclnnop/aclnn_gelu_backward.h: aclnnGeluBackward, the gradient of aclnnGelu for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput (s + u' self s (1 - s)),   s = 1 / (1 + exp(-u)),   u = sqrt(8 / pi) (self + 0.044715 self^3)
//
// Values: for infinities the slope is 0 or 1. Rounded once.
// Types
//   gradOutput, self  two types that promote to P, one of the floats: an integer beside a float too. Computed in P.
//   gradInput         any
#ifndef PORTACL_ACLNNOP_ACLNN_GELU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_GELU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   self        operand of the function
//   gradInput   result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self or gradInput is null
//   161002  P is none of the floats
//   161002  gradOutput or self has more than 8 dimensions
//   161002  they do not broadcast
//   161002  gradInput's shape is not what they broadcast to
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnGeluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                        const aclTensor* gradInput, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGeluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GELU_BACKWARD_H_
