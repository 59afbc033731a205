// aclnnop/aclnn_mish_backward.h: aclnnMishBackward, the gradient of aclnnMish for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput (t + self s (1 - t^2)),   t = tanh(log(1 + exp(self))),   s = 1 / (1 + exp(-self))
//
// Values: rounded once; NaN for infinities.
// Types
//   gradOutput, self  floats; computed in P, to which they promote.
//   gradInput         floats.
#ifndef PORTACL_ACLNNOP_ACLNN_MISH_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_MISH_BACKWARD_H_

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
//   161002  gradOutput's, self's or gradInput's type is not in the list
//   161002  gradOutput or self has more than 8 dimensions
//   161002  they do not broadcast
//   161002  gradInput's shape is not what they broadcast to
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnMishBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                        aclTensor* gradInput, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMishBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MISH_BACKWARD_H_
