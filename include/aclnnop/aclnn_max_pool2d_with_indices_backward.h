// aclnnop/aclnn_max_pool2d_with_indices_backward.h: aclnnMaxPool2dWithIndicesBackward, the gradient of aclnnMaxPool2dWithIndices.
// SPDX-License-Identifier: Apache-2.0
//
// gradInput is 0, and gradOutput[n][c][y][x] is added where indices say that the element of its window is: float32 sums in the order of
// windows, rounded once. An index outside of the plane is left out, and the next synchronisation of the stream says so.
// Indices of INT8 are what aclnnMaxPool2dWithMask writes.
//
// Types: float32; on Ascend 950 float16, BF16 too; none before Atlas A2. indices: INT32 and INT8; on Ascend 950 INT32 and INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_INDICES_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_INDICES_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of out
//   self        the images; its values are not read
//   indices     as aclnnMaxPool2dWithIndices has written them
//   kernelSize  two numbers, or one for all axes
//   stride      as many, or none: the kernel
//   padding     as many: what is added on each side of an axis
//   dilation    as many: from one element of a window to the next
//   ceilMode    whether a last window that does not fit counts
//   gradInput   result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  a tensor or an array is null
//   161002  gradOutput's type or indices' is not in the list, self's or gradInput's another one than gradOutput's; their formats differ,
//           or one of the four is private
//   161002  self does not have 3 or 4 dims; kernel, stride, padding, dilation as for aclnnMaxPool2dWithIndices
//   161002  gradInput's shape is not self's; a dim of self besides the batch is 0; gradOutput's shape is not that of the windows, or
//           indices' is not gradOutput's
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more; INT8 with less storage than 4 bytes for each element of gradOutput
// clang-format off
ACLNN_API aclnnStatus aclnnMaxPool2dWithIndicesBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor*
    self, const aclTensor* indices, const aclIntArray* kernelSize, const aclIntArray* stride, const aclIntArray*
    padding, const aclIntArray* dilation, bool ceilMode, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaxPool2dWithIndicesBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor*
    executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

// CANN declares aclnnMaxPool2dWithMaskBackward here, too.
#include "aclnn_max_pool2d_with_mask_backward.h"

#endif  // PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_INDICES_BACKWARD_H_
