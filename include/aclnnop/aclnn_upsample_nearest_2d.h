// aclnnop/aclnn_upsample_nearest_2d.h: aclnnUpsampleNearest2d, images resized by the nearest element.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][y][x] = self[n][c][min(floor(y * h), H - 1)][min(floor(x * w), W - 1)], in float32; h is H divided by out's rows, w likewise.
// The format NHWC says that the dims are in that order.
//
// Types: float32, float16, float64, uint8; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_2D_H_
#define PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self        images of 4 dims
//   outputSize  rows and columns of out
//   out         result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, outputSize or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  outputSize does not have two values, self or out not 4 dims; self has no channels, rows or columns; a size is less than 1
//   161002  a format is neither NCHW nor NHWC, or they differ
//   161002  out's images or channels are not self's, or its rows and columns not outputSize
//   161002  but on Ascend 950, a dim is longer than 2^31 - 1
//           (here success is returned when self or out is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnUpsampleNearest2dGetWorkspaceSize(const aclTensor* self, const aclIntArray* outputSize,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUpsampleNearest2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_2D_H_
