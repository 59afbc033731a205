// aclnnop/aclnn_max_pool2d_with_indices.h: aclnnMaxPool2dWithIndices, the largest element of each window of an image, and its index.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][y][x] = the largest of self[n][c][y * stride - padding + i * dilation][x * stride - padding + j * dilation], indices its
// place h * W + w. A window's result is its first largest element, or its last NaN; what is padded is none. With or without a batch n.
// The number of windows along an axis is (n + 2 * padding - dilation * (kernel - 1) - 1 + (ceilMode ? stride - 1 : 0)) / stride + 1,
// rounded down, less one where ceilMode lets the last one begin behind the elements and the padding before them.
//
// Types: float32, float16, BF16; none on products before Atlas A2. indices: INT32, INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_INDICES_H_
#define PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_INDICES_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self          images, 3 or 4 dims
//   kernelSize    two numbers, or one for all axes
//   stride        as many, or none: the kernel
//   padding       as many: what is added on each side of an axis
//   dilation      as many: from one element of a window to the next
//   ceilMode      whether a last window that does not fit counts
//   out, indices  results
// Codes, after those that all operators share, in this order:
//   161001  self, kernelSize, stride, padding, dilation, out or indices is null
//   161002  self's type or indices' is not in the list, out's another one than self's
//   161002  formats of self and out differ, or one of the three is private; self does not have 3 or 4 dims
//   161002  kernelSize, padding or dilation does not have 1 or 2 values, stride 0, 1 or 2
//   161002  a kernel or stride is less than 1, a padding less than 0 or more than half of the kernel; a dilation is not 1 (on Ascend 950:
//           less than 1)
//   161002  a dim of self besides the batch is 0; no window fits; out's shape is another one, or indices' another one than out's
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnMaxPool2dWithIndicesGetWorkspaceSize(const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, const aclIntArray* dilation, bool ceilMode, aclTensor* out,
    aclTensor* indices, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaxPool2dWithIndices(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

// CANN declares aclnnMaxPool2dWithMask here, too.
#include "aclnn_max_pool2d_with_mask.h"

#endif  // PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_INDICES_H_
