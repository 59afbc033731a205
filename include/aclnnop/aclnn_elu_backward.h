// aclnnop/aclnn_elu_backward.h: aclnnEluBackward, the gradient of aclnnElu for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   selfOrResult > 0:  gradInput = gradOutput scale
//   else, isResult:    gradInput = gradOutput inputScale (selfOrResult + alpha scale)
//   else:              gradInput = gradOutput inputScale alpha scale exp(selfOrResult inputScale)
//
// Values: rounded once.
// Types
//   gradOutput, selfOrResult  floats, one type.
//   alpha, scale, inputScale  real; taken as FLOAT.
//   gradInput                 any type that theirs casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_ELU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_ELU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput                gradient of the result
//   alpha, scale, inputScale  scalars
//   isResult                  whether selfOrResult is the result of the function: then alpha is at least 0
//   selfOrResult              operand or result of the function
//   gradInput                 result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, alpha, scale, inputScale, selfOrResult or gradInput is null
//   161002  gradOutput's type is not in its list
//   161002  selfOrResult's type is not gradOutput's
//   161002  it does not cast to gradInput's
//   161002  a scalar is complex
//   161002  isResult, and alpha is negative
//   161002  gradOutput or selfOrResult has more than 8 dimensions
//   161002  the three shapes are not one
//           (here success is returned when gradOutput is empty)
ACLNN_API aclnnStatus aclnnEluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclScalar* alpha,
                                                       const aclScalar* scale, const aclScalar* inputScale,
                                                       bool isResult, const aclTensor* selfOrResult,
                                                       aclTensor* gradInput, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnEluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ELU_BACKWARD_H_
