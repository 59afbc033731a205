// aclnnop/aclnn_logsigmoid_backward.h: aclnnLogSigmoidBackward, the gradient of aclnnLogSigmoid for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput / (1 + exp(self))
//
// Values: rounded once.
// Types
//   gradOutput, self, gradInput  floats, one type.
//   buffer                       any.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGSIGMOID_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_LOGSIGMOID_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   self        operand of the function
//   buffer      not null, but neither read nor looked at
//   gradInput   result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, buffer or gradInput is null
//   161002  gradOutput's type is not in its list
//   161002  the three types are not one
//   161002  gradOutput's or self's shape is not gradInput's
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnLogSigmoidBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                              const aclTensor* self, const aclTensor* buffer,
                                                              aclTensor* gradInput, uint64_t* workspaceSize,
                                                              aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogSigmoidBackward(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGSIGMOID_BACKWARD_H_
