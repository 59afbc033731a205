// aclnnop/aclnn_hardshrink_backward.h: aclnnHardshrinkBackward, the gradient of aclnnHardshrink for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = |self| <= lambd ? 0 : gradOutput
//
// Values: a negative lambd is 0. gradOutput where self is NaN. lambd is taken as FLOAT.
// Types
//   gradOutput, self  floats; computed in P, to which they promote.
//   lambd             any; a complex one is 0.
//   gradInput         floats.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDSHRINK_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_HARDSHRINK_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   self        operand of the function
//   lambd       scalar
//   gradInput   result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, lambd or gradInput is null
//   161002  gradOutput's, self's or gradInput's type is not in the list
//   161002  one of the three has more than 8 dimensions
//           (here success is returned when gradOutput or self is empty)
//   161002  gradOutput and self do not broadcast
//   161002  gradInput's shape is not what they broadcast to
ACLNN_API aclnnStatus aclnnHardshrinkBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                              const aclTensor* self, const aclScalar* lambd,
                                                              aclTensor* gradInput, uint64_t* workspaceSize,
                                                              aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardshrinkBackward(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDSHRINK_BACKWARD_H_
