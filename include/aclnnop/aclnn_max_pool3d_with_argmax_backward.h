// aclnnop/aclnn_max_pool3d_with_argmax_backward.h: aclnnMaxPool3dWithArgmaxBackward, the gradient of aclnnMaxPool3dWithArgmax.
// SPDX-License-Identifier: Apache-2.0
//
// gradInput is 0, and gradOutput[n][c][y][x] is added where indices say that the element of its window is: float32 sums in the order of
// windows, rounded once. An index outside of the plane is left out, and the next synchronisation of the stream says so.
//
// Types: float32, float16, BF16; none on products before Atlas A2. indices: INT32; on Ascend 950 INT64 too.
#ifndef PORTACL_ACLNNOP_ACLNN_MAX_POOL3D_WITH_ARGMAX_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_MAX_POOL3D_WITH_ARGMAX_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of out
//   self        the images; its values are not read
//   indices     as aclnnMaxPool3dWithArgmax has written them
//   kernelSize  three numbers, or one for all axes
//   stride      as many, or none: the kernel
//   padding     as many: what is added on each side of an axis
//   dilation    as many: from one element of a window to the next
//   ceilMode    whether a last window that does not fit counts
//   gradInput   result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  a tensor or an array is null
//   161002  gradOutput's type or indices' is not in the list, self's or gradInput's another one than gradOutput's; their formats differ,
//           or one of the four is private
//   161002  self does not have 4 or 5 dims; kernel, stride, padding, dilation as for aclnnMaxPool3dWithArgmax
//   161002  gradInput's shape is not self's; a dim of self besides the batch is 0; gradOutput's shape is not that of the windows, or
//           indices' is not gradOutput's
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnMaxPool3dWithArgmaxBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor*
    self, const aclTensor* indices, const aclIntArray* kernelSize, const aclIntArray* stride, const aclIntArray*
    padding, const aclIntArray* dilation, bool ceilMode, aclTensor* gradInput, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaxPool3dWithArgmaxBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor*
    executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MAX_POOL3D_WITH_ARGMAX_BACKWARD_H_
