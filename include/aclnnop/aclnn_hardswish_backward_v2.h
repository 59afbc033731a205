// aclnnop/aclnn_hardswish_backward_v2.h: aclnnHardswishBackwardV2, the gradient of aclnnHardswish for its self, without its
// borders.
// SPDX-License-Identifier: Apache-2.0
//
//   out = 0 up to -3, gradOutput from 3 on, gradOutput (self / 3 + 0.5) between
//
// Values: each step is rounded. gradOutput where self is NaN.
// Types
//   gradOutput, self, out  floats, one type.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDSWISH_BACKWARD_V2_H_
#define PORTACL_ACLNNOP_ACLNN_HARDSWISH_BACKWARD_V2_H_

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
//   161002  gradOutput's type is not in its list
//   161002  the three types are not one
//   161002  gradOutput or self has more than 8 dimensions
//   161002  the three shapes are not one
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnHardswishBackwardV2GetWorkspaceSize(const aclTensor* gradOutput,
                                                               const aclTensor* self, aclTensor* out,
                                                               uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardswishBackwardV2(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDSWISH_BACKWARD_V2_H_
