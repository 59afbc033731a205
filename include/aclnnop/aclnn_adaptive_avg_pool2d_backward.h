// aclnnop/aclnn_adaptive_avg_pool2d_backward.h: aclnnAdaptiveAvgPool2dBackward, the gradient of aclnnAdaptiveAvgPool2d.
// SPDX-License-Identifier: Apache-2.0
//
// out is the sum, over the windows that an element is in, in their order, of gradOutput divided by the number of elements of the window:
// float32, from +0 on, rounded once.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL2D_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL2D_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the means
//   self        the images; its values are not read
//   out         result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self or out is null
//   161002  self does not have 3 or 4 dims; gradOutput or out has another number of them, or another dim before the last two
//   161002  gradOutput's type is not in the list, self's another one; a format is private, or they differ
//           (here success is returned when gradOutput or self is empty)
//   561103  out's shape or type is not self's; planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnAdaptiveAvgPool2dBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor*
    self, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAdaptiveAvgPool2dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL2D_BACKWARD_H_
