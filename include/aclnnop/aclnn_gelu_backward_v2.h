// aclnnop/aclnn_gelu_backward_v2.h: aclnnGeluBackwardV2, the gradient of aclnnGeluV2 for its x.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput (cdf(self) + self pdf(self))   of the normal distribution, where approximate is "none"
//   gradInput = that of aclnnGeluBackward                 where it is "tanh"
//
// Values: where approximate is "none", NaN for infinities, as in IEEE 754 the formula is. Rounded once.
// Types
//   gradOutput, self  two types that promote to P, one of the floats: an integer beside a float too. Computed in P.
//   gradInput         P
#ifndef PORTACL_ACLNNOP_ACLNN_GELU_BACKWARD_V2_H_
#define PORTACL_ACLNNOP_ACLNN_GELU_BACKWARD_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput   gradient of the result
//   self         operand of the function
//   approximate  "none" or "tanh"; read in phase 1
//   gradInput    result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, gradInput or approximate is null
//   161002  P is none of the floats
//   161002  gradInput's type is not P
//   161002  gradOutput and self do not broadcast
//   161002  gradInput's shape is not what they broadcast to
//   161002  approximate is another text
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnGeluBackwardV2GetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                          char* approximate, aclTensor* gradInput,
                                                          uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGeluBackwardV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GELU_BACKWARD_V2_H_
