// aclnnop/aclnn_softshrink_backward.h: aclnnSoftshrinkBackward, the gradient of aclnnSoftshrink for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = |self| <= lambda ? 0 : gradOutput
//
// Values: gradOutput where self is NaN. lambda is taken as FLOAT.
// Types
//   gradOutput, self  floats; BF16 on Atlas 200I/500 A2 too.
//   lambda            any; a complex one is 0.
//   gradInput         theirs; FLOAT where they differ.
#ifndef PORTACL_ACLNNOP_ACLNN_SOFTSHRINK_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SOFTSHRINK_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   self        operand of the function
//   lambda      scalar
//   gradInput   result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, lambda or gradInput is null
//   161002  gradOutput's, self's or gradInput's type is not in the list
//   161002  lambda is negative
//   161002  gradOutput or self has more than 8 dimensions
//   161002  they do not broadcast
//   161002  gradInput's shape is not what they broadcast to
//           (here success is returned when gradOutput or gradInput is empty)
//   561103  gradInput's type is not theirs or, where they differ, FLOAT
ACLNN_API aclnnStatus aclnnSoftshrinkBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                              const aclTensor* self, const aclScalar* lambda,
                                                              aclTensor* gradInput, uint64_t* workspaceSize,
                                                              aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSoftshrinkBackward(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SOFTSHRINK_BACKWARD_H_
