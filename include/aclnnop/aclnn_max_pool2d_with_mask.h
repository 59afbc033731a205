// aclnnop/aclnn_max_pool2d_with_mask.h: aclnnMaxPool2dWithMask, the largest element of each window of an image, and where it is.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][y][x] = the largest of self[n][c][y * stride - padding + i][x * stride - padding + j]. A window's result is its first largest
// element, or its last NaN; what is padded is none. With or without a batch n.
// The number of windows along an axis is (n + 2 * padding - dilation * (kernel - 1) - 1 + (ceilMode ? stride - 1 : 0)) / stride + 1,
// rounded down, less one where ceilMode lets the last one begin behind the elements and the padding before them.
// What lies where goes into indices, which is written from the start of its storage on, whatever its strides: one INT32 for each element
// of out, in its order, h * W + w; what is behind is left as it is, and so is all of it where the kernel is 1 x 1.
//
// Types: float32, float16; BF16 on Atlas A2 and A3; float32 alone on Atlas inference; none on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_MASK_H_
#define PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_MASK_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self        images, 3 or 4 dims
//   kernelSize  two numbers, or one for all axes
//   stride      as many, or none: the kernel
//   padding     as many: what is added on each side of an axis
//   dilation    as many: from one element of a window to the next
//   ceilMode    whether a last window that does not fit counts
//   out         result
//   indices     INT8, of shape [N, C, kh * kw, ((Ho * Wo + 15) / 16 + 1) * 32], without N as self
// Codes, after those that all operators share, in this order:
//   161001  kernelSize, self or out is null
//   161002  kernelSize does not have 1 or 2 values
//   161001  stride, padding, dilation or indices is null
//   161002  Ascend 950; self's type is not in the list; indices' is not INT8; out's type is another one than self's
//   161002  formats of self and out differ, or one of the three is private; self does not have 3 or 4 dims
//   161002  a kernel or stride is less than 1; stride, padding or dilation has another number of values; a padding is less than 0 or more
//           than half of the kernel; a dilation is not 1
//   161002  a dim of self besides the batch is 0; no window fits; out's or indices' shape is another one
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnMaxPool2dWithMaskGetWorkspaceSize(const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, const aclIntArray* dilation, bool ceilMode, aclTensor* out,
    aclTensor* indices, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaxPool2dWithMask(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_MASK_H_
