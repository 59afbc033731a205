// aclnnop/aclnn_avgpool2d_backward.h: aclnnAvgPool2dBackward, the gradient of aclnnAvgPool2d.
// SPDX-License-Identifier: Apache-2.0
//
// gradInput is the sum, over the windows that an element is in, in their order, of gradOutput divided by what the window's sum was
// divided by: float32, from +0 on, rounded once. Where gradOutput has more windows than fit, the others change nothing; where it has
// fewer, those that it has count.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AVGPOOL2D_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_AVGPOOL2D_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput                        gradient of out
//   self                              the images; its values are not read
//   kernelSize                        two numbers, or one for all axes
//   stride                            as many, or none: the kernel
//   padding                           as many: what is added on each side of an axis
//   ceilMode                          whether a last window that does not fit counts
//   countIncludePad, divisorOverride  what a sum is divided by
//   cubeMathType                      0 to 3; changes no result
//   gradInput                         result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, kernelSize, padding or gradInput is null (stride may be)
//   161002  a kernel or stride is less than 1; stride has more than 2 values
//   161002  a type is not in the list, gradInput's is not gradOutput's; a format is neither NCHW (4 dims) nor NCL (3)
//   161002  gradOutput does not have 3 or 4 dims, or gradInput not as many; kernelSize or padding does not have 1 or 2 values
//   161002  a padding is less than 0 or more than half of the kernel; cubeMathType is not 0 to 3; gradInput's shape is not self's
//           (here success is returned when gradOutput or self is empty)
//   561103  gradOutput's batch or channels are not self's; planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnAvgPool2dBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self, const
    aclIntArray* kernelSize, const aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool
    countIncludePad, int64_t divisorOverride, int8_t cubeMathType, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAvgPool2dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AVGPOOL2D_BACKWARD_H_
