// aclnnop/aclnn_selu_backward.h: aclnnSeluBackward, the gradient of aclnnSelu for its self, from its result.
// SPDX-License-Identifier: Apache-2.0
//
//   result > 0:  gradInput = gradOutput scale
//   else:        gradInput = gradOutput (result + scale alpha)
//
// Values: scale = 1.0507009873554805, scale alpha = 1.7580993408473769. Of floats rounded once. Integers are computed in float32,
// step by step, and rounded to the nearest even one; what is too large becomes the largest number.
// Types
//   gradOutput, result, gradInput  floats, INT8, INT32, one type.
#ifndef PORTACL_ACLNNOP_ACLNN_SELU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SELU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   result      result of the function
//   gradInput   result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, result or gradInput is null
//   161002  gradOutput's type is not in its list
//   161002  the three types are not one
//   161002  the three shapes are not one
//           (here success is returned when gradOutput is empty)
ACLNN_API aclnnStatus aclnnSeluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* result,
                                                        aclTensor* gradInput, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSeluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SELU_BACKWARD_H_
