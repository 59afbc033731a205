// aclnnop/aclnn_im2col_backward.h: aclnnIm2colBackward, the sum of the columns that aclnnIm2col makes, where they came from.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][h][w] is the sum of gradOutput over all windows that have this element: kernel row by kernel row, then by kernel
// column, from +0 on. Float32, rounded once to out's type.
//
// Types: float32, float16, BF16 on newer products; gradOutput's and out's may differ.
#ifndef PORTACL_ACLNNOP_ACLNN_IM2COL_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_IM2COL_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  columns, 2 or 3 dims
//   inputSize   H, W
//   kernelSize, dilation, padding, stride  as of aclnnIm2col
//   out         result, of one dim more
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, inputSize, kernelSize, dilation, padding, stride or out is null
//   161002  a type is not in the list; gradOutput does not have 2 or 3 dims, or out not one more
//   161002  an array does not have two values, or, but for inputSize, has one less than 1 (padding: less than 0)
//   161002  kh * kw does not divide gradOutput's dim before the last, or the last is not the number of windows
//   161002  out's shape is not the result's
//           (here success is returned when gradOutput is empty, and out is not written)
// clang-format off
ACLNN_API aclnnStatus aclnnIm2colBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclIntArray* inputSize,
    const aclIntArray* kernelSize, const aclIntArray* dilation, const aclIntArray* padding, const aclIntArray* stride,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIm2colBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_IM2COL_BACKWARD_H_
