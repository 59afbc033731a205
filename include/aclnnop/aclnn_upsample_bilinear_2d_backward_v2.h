// aclnnop/aclnn_upsample_bilinear_2d_backward_v2.h: aclnnUpsampleBilinear2dBackwardV2, the gradient of aclnnUpsampleBilinear2d.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of out is the sum of those of gradOut that were interpolated from it, times their weights: of each row of gradOut first,
// then those of the rows, in order, from +0 on. Float32, rounded once. Where gradOut has the shape inputSize, it is copied.
//
// Types: float32, float16; BF16 on newer products; none on Atlas 200I/500 A2.
#ifndef PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR_2D_BACKWARD_V2_H_
#define PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR_2D_BACKWARD_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOut     gradient of the resized images, 4 dims
//   outputSize  its rows and columns
//   inputSize   out's shape
//   alignCorners, scalesH, scalesW  as of aclnnUpsampleBilinear2d
//   out         result
// Codes, after those that all operators share, in this order:
//   161001  gradOut, outputSize, inputSize or out is null
//   161002  gradOut does not have 4 dims, outputSize not 2 values or inputSize not 4; rows or columns are less than 1
//   161002  gradOut's shape is not inputSize with outputSize's rows and columns
//   161002  gradOut's type is not in the list, or out's is another one (nothing is listed where gradOut has inputSize's shape)
//   161002  a format is neither NCHW nor NHWC, or they differ; a dim is longer than 2^31 - 1
//           (here success is returned when gradOut or out is empty)
//   161002  out's shape is not inputSize
// clang-format off
ACLNN_API aclnnStatus aclnnUpsampleBilinear2dBackwardV2GetWorkspaceSize(const aclTensor* gradOut, const aclIntArray*
    outputSize, const aclIntArray* inputSize, bool alignCorners, double scalesH, double scalesW, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUpsampleBilinear2dBackwardV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR_2D_BACKWARD_V2_H_
