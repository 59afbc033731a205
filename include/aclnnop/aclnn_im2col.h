// aclnnop/aclnn_im2col.h: aclnnIm2col, the windows of images as the columns of a matrix.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c * kh * kw + i * kw + j][y * lw + x] = self[n][c][y * stride + i * dilation - padding][x * stride + j * dilation - padding],
// stride, dilation and padding those of the axis; 0 outside of the image. lh, the number of windows down, is
// (H + 2 * padding - dilation * (kh - 1) - 1) / stride + 1, rounded down, and lw likewise. With or without a batch n. Values are
// converted to out's type.
//
// Types: float32, float16, BF16; on Ascend 950 float64, integers, bool, COMPLEX32, COMPLEX64 too. out: any type.
#ifndef PORTACL_ACLNNOP_ACLNN_IM2COL_H_
#define PORTACL_ACLNNOP_ACLNN_IM2COL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self        images, 3 or 4 dims
//   kernelSize  kh, kw
//   dilation, padding, stride  two numbers each
//   out         result, of one dim less
// Codes, after those that all operators share, in this order:
//   161001  self, kernelSize, dilation, padding, stride or out is null
//   161002  self's type is not in the list; self does not have 3 or 4 dims, or a dim besides the batch is 0
//   161002  an array does not have two values, or has one less than 1 (padding: less than 0)
//   161002  no window fits
//   161002  out's shape is not the result's
//           (here success is returned when self is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnIm2colGetWorkspaceSize(const aclTensor* self, const aclIntArray* kernelSize, const
    aclIntArray* dilation, const aclIntArray* padding, const aclIntArray* stride, const aclTensor* out, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIm2col(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_IM2COL_H_
