// aclnnop/aclnn_hardsigmoid_backward.h: aclnnHardsigmoidBackward, the gradient of aclnnHardsigmoid for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   out = -3 < self < 3 ? gradOutput / 6 : 0
//
// Values: 0 where self is NaN.
// Types
//   gradOutput, self  floats; computed in P, to which they promote.
//   out               any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDSIGMOID_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_HARDSIGMOID_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   self        operand of the function
//   out         result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self or out is null
//   161002  gradOutput's or self's type is not in its list
//   161002  P does not cast to out's type
//   161002  one of the three has more than 8 dimensions
//   161002  the three shapes are not one
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnHardsigmoidBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                               const aclTensor* self, aclTensor* out,
                                                               uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardsigmoidBackward(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDSIGMOID_BACKWARD_H_
