// aclnnop/aclnn_max_pool2d_with_mask_backward.h: aclnnMaxPool2dWithMaskBackward, the gradient of aclnnMaxPool2dWithMask.
// SPDX-License-Identifier: Apache-2.0
//
// gradInput is 0, and gradOutput[n][c][y][x] is added where indices say that the element of its window is: float32 sums in the order of
// windows, rounded once. An index outside of the plane is left out, and the next synchronisation of the stream says so.
// For a 1 x 1 kernel the elements are where the windows are, and indices are not read.
//
// Types: float32, float16; BF16 on Atlas A2 and A3; float32 alone on Atlas inference; none on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_MASK_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_MASK_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of out
//   self        the images; its values are not read
//   indices     as aclnnMaxPool2dWithMask has written it, INT8 or INT32; of any shape, if there is enough of it
//   kernelSize  two numbers, or one for all axes
//   stride      as many, or none: the kernel
//   padding     as many: what is added on each side of an axis
//   dilation    as many: from one element of a window to the next
//   ceilMode    whether a last window that does not fit counts
//   gradInput   result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  kernelSize, gradOutput or self is null; kernelSize does not have 1 or 2 values; stride, padding, dilation, indices or
//           gradInput is null
//   161002  Ascend 950; gradOutput's type is not in the list; indices' is neither INT8 nor INT32; self's or gradInput's type is another
//           one than gradOutput's; their formats differ, or one of the four is private
//   161002  self does not have 3 or 4 dims; kernel, stride, padding, dilation as for aclnnMaxPool2dWithMask
//   161002  gradInput's shape is not self's; a dim of self besides the batch is 0; gradOutput's shape is not that of the windows
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more; indices have less storage than 4 bytes for each element of gradOutput
// clang-format off
ACLNN_API aclnnStatus aclnnMaxPool2dWithMaskBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor*
    self, const aclTensor* indices, const aclIntArray* kernelSize, const aclIntArray* stride, const aclIntArray*
    padding, const aclIntArray* dilation, bool ceilMode, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaxPool2dWithMaskBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MAX_POOL2D_WITH_MASK_BACKWARD_H_
