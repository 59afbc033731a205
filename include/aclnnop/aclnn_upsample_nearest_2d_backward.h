// aclnnop/aclnn_upsample_nearest_2d_backward.h: aclnnUpsampleNearest2dBackward, the gradient of aclnnUpsampleNearest2dV2.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of gradInput is the sum of those of gradOut that were taken from it: row by row, and of each row, in order, from +0 on.
// Float32, rounded once.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_2D_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_2D_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOut     gradient of the resized images, 4 dims
//   outputSize  its rows and columns
//   inputSize   gradInput's shape
//   scalesH, scalesW  as of aclnnUpsampleNearest2dV2
//   gradInput   result, of gradOut's type
// Codes, after those that all operators share, in this order:
//   161001  gradOut, outputSize, inputSize or gradInput is null
//   161002  gradOut's type is not in the list, or gradInput's is not gradOut's
//   161002  gradOut does not have 4 dims, outputSize not 2 values or inputSize not 4
//   161002  a format is neither NCHW nor NHWC, or they differ
//   161002  rows or columns are less than 1; gradOut's shape is not inputSize with outputSize's rows and columns
//   161002  gradInput's shape is not inputSize
//           (here success is returned when gradOut or gradInput is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnUpsampleNearest2dBackwardGetWorkspaceSize(const aclTensor* gradOut, const aclIntArray*
    outputSize, const aclIntArray* inputSize, double scalesH, double scalesW, aclTensor* gradInput, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUpsampleNearest2dBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_2D_BACKWARD_H_
