// aclnnop/aclnn_avgpool3d.h: aclnnAvgPool3d, the mean of each window of a volume.
// SPDX-License-Identifier: Apache-2.0
//
// As aclnnAvgPool2d over three axes. The sum is float32, from +0 on over the window's elements in row-major order; it is divided by
// divisorOverride, or, where that is 0, by the number of elements, with countIncludePad by that of places in the padded image; rounded
// once. With or without a batch n.
// The number of windows along an axis is (n + 2 * padding - kernel + (ceilMode ? stride - 1 : 0)) / stride + 1, rounded down, less one
// where ceilMode lets the last one begin behind the elements and the padding before them.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AVGPOOL3D_H_
#define PORTACL_ACLNNOP_ACLNN_AVGPOOL3D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self                              volumes, 4 or 5 dims
//   kernelSize                        three numbers, or one for all axes
//   stride                            as many, or none: the kernel
//   padding                           as many: what is added on each side of an axis
//   ceilMode                          whether a last window that does not fit counts
//   countIncludePad, divisorOverride  what a sum is divided by
//   out                               result
// Codes, after those that all operators share, in this order:
//   161001  self, kernelSize, stride, padding or out is null
//   161002  self's type is not in the list, out's another one
//   161002  formats are private or differ
//           (here success is returned when self is empty)
//   161002  self does not have 4 or 5 dims; kernelSize or padding does not have 1 or 3 values, stride 0, 1 or 3; a kernel or stride is less than 1, a padding less than 0
//           or more than half of the kernel
//   161002  the kernel is larger than the input; no window fits; a shape is another one
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnAvgPool3dGetWorkspaceSize(const aclTensor* self, const aclIntArray* kernelSize, const
    aclIntArray* stride, const aclIntArray* padding, bool ceilMode, bool countIncludePad, int64_t divisorOverride,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAvgPool3d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AVGPOOL3D_H_
