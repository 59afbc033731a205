// aclnnop/aclnn_adaptive_max_pool2d_backward.h: aclnnAdaptiveMaxPool2dBackward, the gradient of aclnnAdaptiveMaxPool2d.
// SPDX-License-Identifier: Apache-2.0
//
// gradInput is 0, and gradOutput[n][c][y][x] is added where indices say that the element of its window is: float32 sums in the order of
// windows, rounded once. An index outside of the plane is left out, and the next synchronisation of the stream says so.
//
// Types: float32, float16, BF16; none on products before Atlas A2. indices: INT32, INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of out
//   self        the images; its values are not read
//   indices     as aclnnAdaptiveMaxPool2d has written them
//   gradInput   result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, indices or gradInput is null
//   161002  gradOutput's type or indices' is not in the list, self's or gradInput's another one than gradOutput's
//   161002  self does not have 3 or 4 dims; gradOutput's shape is not indices', gradInput's is not self's; planes of 2^31 elements or
//           more, but on Ascend 950; formats differ or are private; gradOutput's batch or channels are not self's
//           (here success is returned when self or gradOutput is empty)
//   561103  planes of 2^31 elements or more, on Ascend 950
// clang-format off
ACLNN_API aclnnStatus aclnnAdaptiveMaxPool2dBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor*
    self, const aclTensor* indices, aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAdaptiveMaxPool2dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_BACKWARD_H_
