// aclnnop/aclnn_silu_backward.h: aclnnSiluBackward, the gradient of aclnnSilu for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput s (1 + self (1 - s)),   s = 1 / (1 + exp(-self))
//
// Values: NaN for infinities, as in IEEE 754 the formula is. Rounded once.
// Types
//   gradOutput, self  floats; one type, but on Ascend 950.
//   gradInput         theirs; FLOAT where they differ.
#ifndef PORTACL_ACLNNOP_ACLNN_SILU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SILU_BACKWARD_H_

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
//   161002  gradOutput's, self's or gradInput's type is not in its list
//   161002  the types of gradOutput and self differ: not on Ascend 950; or there, and gradInput's is not FLOAT
//   161002  gradInput's type is not theirs
//   161002  gradOutput or self has more than 8 dimensions
//   161002  the three shapes are not one, not on Ascend 950
//   161002  gradOutput and self do not broadcast
//   161002  gradInput's shape is not what they broadcast to
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnSiluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                        aclTensor* gradInput, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSiluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SILU_BACKWARD_H_
