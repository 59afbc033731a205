// aclnnop/aclnn_leaky_relu_backward.h: aclnnLeakyReluBackward, the gradient of aclnnLeakyRelu for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self > 0 ? gradOutput : gradOutput * negativeSlope
//
// Values: the same whether self is operand or result. negativeSlope is taken as FLOAT, for DOUBLE too.
// Types
//   gradOutput, self  floats, DOUBLE; computed in P, to which they promote.
//   negativeSlope     floats, DOUBLE, integers, BOOL.
//   out               any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_LEAKY_RELU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_LEAKY_RELU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput     gradient of the result
//   self           operand of the function, or its result
//   negativeSlope  scalar
//   selfIsResult   whether self is the result: then negativeSlope is at least 0
//   out            result, the gradient of self
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, negativeSlope or out is null
//   161002  gradOutput's or self's type is not in its list
//   161002  negativeSlope's type is not in its list
//   161002  selfIsResult, and negativeSlope is negative
//   161002  P does not cast to out's type
//   161002  gradOutput or self has more than 8 dimensions
//   161002  they do not broadcast
//   161002  out's shape is not what they broadcast to
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnLeakyReluBackwardGetWorkspaceSize(
    const aclTensor* gradOutput, const aclTensor* self, const aclScalar* negativeSlope, bool selfIsResult,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLeakyReluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LEAKY_RELU_BACKWARD_H_
