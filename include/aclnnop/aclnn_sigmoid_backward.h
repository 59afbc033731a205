// aclnnop/aclnn_sigmoid_backward.h: aclnnSigmoidBackward, the gradient of aclnnSigmoid from its result.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = (gradOutput (1 - output)) output
//   gradInput = gradOutput conj((1 - output) output)   of complex numbers
//
// Values: each step is rounded.
// Types
//   gradOutput  floats, DOUBLE, complex; computed in P, to which gradOutput and output promote.
//   output      floats, DOUBLE, complex; BF16 everywhere.
//   gradInput   of that list, one that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_SIGMOID_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SIGMOID_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   output      result of the function
//   gradInput   result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, output or gradInput is null
//   161002  gradOutput's, output's or gradInput's type is not in its list
//   161002  P does not cast to gradInput's type
//   161002  gradOutput or output has more than 8 dimensions
//   161002  they do not broadcast
//   161002  gradInput's shape is not what they broadcast to
//           (here success is returned when gradOutput or output is empty)
ACLNN_API aclnnStatus aclnnSigmoidBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                           const aclTensor* output, aclTensor* gradInput,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSigmoidBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SIGMOID_BACKWARD_H_
