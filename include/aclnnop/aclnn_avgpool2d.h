// aclnnop/aclnn_avgpool2d.h: aclnnAvgPool2d, the mean of each window of an image.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][y][x] = the sum of self[n][c][y * stride - padding + i][x * stride - padding + j], divided. The sum is float32, from +0 on
// over the window's elements in row-major order; it is divided by divisorOverride, or, where that is 0, by the number of elements, with
// countIncludePad by that of places in the padded image; rounded once. With or without a batch n.
// The number of windows along an axis is (n + 2 * padding - kernel + (ceilMode ? stride - 1 : 0)) / stride + 1, rounded down, less one
// where ceilMode lets the last one begin behind the elements and the padding before them.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AVGPOOL2D_H_
#define PORTACL_ACLNNOP_ACLNN_AVGPOOL2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self                              images, 4 dims in the format NCHW or 3 in NCL
//   kernelSize                        two numbers, or one for all axes
//   strides                           as many, or none: the kernel
//   paddings                          as many: what is added on each side of an axis
//   ceilMode                          whether a last window that does not fit counts
//   countIncludePad, divisorOverride  what a sum is divided by
//   cubeMathType                      0 to 4; changes no result
//   out                               result
// Codes, after those that all operators share, in this order:
//   161001  self, kernelSize, strides, paddings or out is null
//   161002  self's type is not in the list, out's another one; a format is another one
//   161002  a kernel or stride is less than 1, a padding less than 0
//           (here success is returned when self is empty)
//   161002  an array has another number of values; a padding is more than half of the kernel; no window fits; out's shape
//   161002  cubeMathType is not 0 to 4; with float32: 0 or 3 before Atlas A2; on Atlas A2 and A3 1, 3 or 4, if the kernel is the whole
//           image or (without ceilMode) small and the image nearly square
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnAvgPool2dGetWorkspaceSize(const aclTensor* self, const aclIntArray* kernelSize, const
    aclIntArray* strides, const aclIntArray* paddings, const bool ceilMode, const bool countIncludePad, const int64_t
    divisorOverride, const int8_t cubeMathType, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAvgPool2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AVGPOOL2D_H_
