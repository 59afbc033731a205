// aclnnop/aclnn_upsample_bilinear_2d.h: aclnnUpsampleBilinear2d, images resized by linear interpolation along both dims.
// SPDX-License-Identifier: Apache-2.0
//
// Row y of out lies at p = y * step with alignCorners, else at max(0, (y + 0.5) * step - 0.5), between the rows i = floor(p) and
// min(i + 1, H - 1) of self, which weigh 1 - (p - i) and p - i. Columns likewise; rows are interpolated along the columns first.
// The step is (H - 1) / (rows - 1) with alignCorners (0 for one row), else 1 / scalesH if that is greater than 0, else H / rows.
// Atlas A2 and A3 ignore a scale that does not make outputSize, floor(H * scalesH), and take step 1 for as many rows.
// Float32, rounded once; float64 for float64.
//
// Types: float32, float16, BF16, float64.
#ifndef PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR_2D_H_
#define PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR_2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self        images of 4 dims
//   outputSize  rows and columns of out
//   alignCorners, scalesH, scalesW  see above
//   out         result, of self's type
// Codes, after those that all operators share, in this order:
//   561103  self or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  a format is neither NCHW nor NHWC, or they differ; self or out does not have 4 dims; float64 is not NHWC
//   161002  out's images or channels are not self's; a scale is negative
//   161002  outputSize is null, does not have two values, or is not out's rows and columns
//           (here success is returned when self or out is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnUpsampleBilinear2dGetWorkspaceSize(const aclTensor* self, const aclIntArray* outputSize,
    const bool alignCorners, const double scalesH, const double scalesW, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUpsampleBilinear2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BILINEAR_2D_H_
