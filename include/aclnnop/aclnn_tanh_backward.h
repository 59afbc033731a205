// aclnnop/aclnn_tanh_backward.h: aclnnTanhBackward, the gradient of aclnnTanh from its result.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput (1 - output output)
//
// Values: each step is rounded.
// Types
//   gradOutput, output, gradInput  floats, DOUBLE, one type.
#ifndef PORTACL_ACLNNOP_ACLNN_TANH_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_TANH_BACKWARD_H_

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
//   161002  gradOutput's type is not in its list
//   161002  the three types are not one
//   161002  gradOutput or output has more than 8 dimensions
//   161002  they do not broadcast
//   161002  gradInput's shape is not what they broadcast to
//           (here success is returned when gradOutput or output is empty)
ACLNN_API aclnnStatus aclnnTanhBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* output,
                                                        aclTensor* gradInput, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTanhBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TANH_BACKWARD_H_
