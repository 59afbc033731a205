// aclnnop/aclnn_max_pool3d_with_argmax.h: aclnnMaxPool3dWithArgmax, the largest element of each window of a volume, and its index.
// SPDX-License-Identifier: Apache-2.0
//
// As aclnnMaxPool2dWithIndices over three axes; indices are (d * H + h) * W + w. A window's result is its first largest element, or its
// last NaN; what is padded is none. With or without a batch n.
// The number of windows along an axis is (n + 2 * padding - dilation * (kernel - 1) - 1 + (ceilMode ? stride - 1 : 0)) / stride + 1,
// rounded down, less one where ceilMode lets the last one begin behind the elements and the padding before them.
//
// Types: float32, float16, BF16; none on products before Atlas A2. indices: INT32; on Ascend 950 INT64 too.
#ifndef PORTACL_ACLNNOP_ACLNN_MAX_POOL3D_WITH_ARGMAX_H_
#define PORTACL_ACLNNOP_ACLNN_MAX_POOL3D_WITH_ARGMAX_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self          volumes, 4 or 5 dims
//   kernelSize    three numbers, or one for all axes
//   stride        as many, or none: the kernel
//   padding       as many: what is added on each side of an axis
//   dilation      as many: from one element of a window to the next
//   ceilMode      whether a last window that does not fit counts
//   out, indices  results
// Codes, after those that all operators share, in this order:
//   161001  self, kernelSize, stride, padding, dilation, out or indices is null
//   161002  self's type or indices' is not in the list, out's another one than self's
//   161002  formats of self, out and indices differ; self does not have 4 or 5 dims
//   161002  kernelSize, padding or dilation does not have 1 or 3 values, stride 0, 1 or 3
//   161002  a kernel or stride is less than 1, a padding less than 0 or more than half of the kernel; a dilation is not 1 (on Ascend 950:
//           less than 1)
//   161002  a dim of self besides the batch is 0; no window fits; out's shape is another one, or indices' another one than out's
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnMaxPool3dWithArgmaxGetWorkspaceSize(const aclTensor* self, const aclIntArray* kernelSize,
    const aclIntArray* stride, const aclIntArray* padding, const aclIntArray* dilation, bool ceilMode, aclTensor* out,
    aclTensor* indices, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaxPool3dWithArgmax(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MAX_POOL3D_WITH_ARGMAX_H_
