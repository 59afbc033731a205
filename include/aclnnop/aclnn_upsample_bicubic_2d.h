// aclnnop/aclnn_upsample_bicubic_2d.h: aclnnUpsampleBicubic2d, images resized by cubic interpolation along both dims.
// SPDX-License-Identifier: Apache-2.0
//
// Row y of out lies at p = y * step with alignCorners, else at (y + 0.5) * step - 0.5, among the rows i - 1 to i + 2 of self, i = floor(p),
// or the edge beyond it. They weigh f(t + 1), g(t), g(1 - t), f(2 - t) for t = p - i, with a = -0.75,
// g(x) = ((a + 2) x - (a + 3)) x x + 1 and f(x) = ((a x - 5 a) x + 8 a) x - 4 a. Columns likewise;
// rows are interpolated along the columns first.
// The step is (H - 1) / (rows - 1) with alignCorners (0 for one row), else 1 / scalesH if that is greater than 0, else H / rows.
// Float32, rounded once.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BICUBIC_2D_H_
#define PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BICUBIC_2D_H_

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
//   161001  self, outputSize or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  a format is none of NCHW, NHWC and ND, or they differ; self or out does not have 4 dims
//   161002  outputSize does not have two values; self has no channels, rows or columns; a size is less than 1
//   161002  out's shape is not self's with outputSize's rows and columns
//   161002  but on Ascend 950, a scale greater than 0 does not make outputSize of self's size
//           (here success is returned when self is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnUpsampleBicubic2dGetWorkspaceSize(const aclTensor* self, const aclIntArray* outputSize,
    const bool alignCorners, const double scalesH, const double scalesW, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUpsampleBicubic2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UPSAMPLE_BICUBIC_2D_H_
