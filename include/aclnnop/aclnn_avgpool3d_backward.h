// aclnnop/aclnn_avgpool3d_backward.h: aclnnAvgPool3dBackward, the gradient of aclnnAvgPool3d.
// SPDX-License-Identifier: Apache-2.0
//
// output is the sum, over the windows that an element is in, in their order, of gradOutput divided by what the window's sum was divided
// by: float32, from +0 on, rounded once.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AVGPOOL3D_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_AVGPOOL3D_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput                        gradient of out
//   self                              the volumes; its values are not read
//   kernelSize                        three numbers, or one for all axes
//   stride                            as many, or none: the kernel
//   padding                           as many: what is added on each side of an axis
//   ceilMode                          whether a last window that does not fit counts
//   countIncludePad, divisorOverride  what a sum is divided by
//   output                            result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, kernelSize, stride, padding or output is null
//   161002  gradOutput's type is not in the list, self's or output's another one
//   161002  formats are private or differ; self does not have 4 or 5 dims
//   161002  kernelSize or padding does not have 1 or 3 values, stride 0, 1 or 3; a kernel or stride is less than 1, a padding less than 0
//           or more than half of the kernel
//   161002  a dim of self besides the batch is 0; the kernel is larger than the input; no window fits; a shape is another one
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnAvgPool3dBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self, const
    aclIntArray* kernelSize, const aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool
    countIncludePad, int64_t divisorOverride, aclTensor* output, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAvgPool3dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AVGPOOL3D_BACKWARD_H_
