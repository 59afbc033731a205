// aclnnop/aclnn_fast_gelu_backward.h: aclnnFastGeluBackward, the gradient of aclnnFastGelu for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = gradOutput s (1 + 1.702 self (1 - s)),   s = 1 / (1 + exp(-1.702 self))
//
// Values: 1.702 is that of FLOAT. NaN for infinities, as in IEEE 754 the formula is. Rounded once.
// Types
//   gradOutput, self, gradInput  on newer products FLOAT, FLOAT16, BF16, one type; none on older ones.
#ifndef PORTACL_ACLNNOP_ACLNN_FAST_GELU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_FAST_GELU_BACKWARD_H_

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
//   161002  gradOutput's type is not in its list
//   161002  the three types are not one
//   161002  gradOutput or self has more than 8 dimensions
//   161002  the three shapes are not one
//   161002  the three formats are not one
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnFastGeluBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                            const aclTensor* self, aclTensor* gradInput,
                                                            uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFastGeluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FAST_GELU_BACKWARD_H_
