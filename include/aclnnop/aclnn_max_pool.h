// aclnnop/aclnn_max_pool.h: aclnnMaxPool, the largest element of each window of an image.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][y][x] = the largest of self[n][c][y * stride - pad + i][x * stride - pad + j]. A window's result is its first largest
// element, or its last NaN; what is padded is none. With or without a batch n.
// The number of windows along an axis is (n + the pads of both sides - kernel + (ceilMode ? stride - 1 : 0)) / stride + 1, rounded down,
// less one where ceilMode lets the last one begin behind the elements and the padding before them.
//
// Types: float32, float16; float16 alone before Atlas A2; on Ascend 950 BF16, INT8 to INT64, UINT8 and UINT16 too.
#ifndef PORTACL_ACLNNOP_ACLNN_MAX_POOL_H_
#define PORTACL_ACLNNOP_ACLNN_MAX_POOL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self         images, 3 or 4 dims
//   kernelShape  two numbers, or one for both axes
//   strides      as many, or none: 1
//   autoPad      0
//   pads         none, one, two, or four: above, left, below, right
//   dilations    none, one, two or four, each 1
//   ceilMode     not 0: a last window that does not fit counts
//   out          result
// Codes, after those that all operators share, in this order:
//   161001  self, kernelShape, strides, pads, dilations or out is null
//   161002  self's type is not in the list, out's another one; formats differ; self does not have 3 or 4 dims
//   161002  kernelShape, strides, pads or dilations has another number of values; a kernel or stride is less than 1, a pad less than 0, a
//           dilation not 1; autoPad is not 0
//   161002  the pads of an axis are more than the kernel; a dim of self besides the batch is 0; no window fits
//   161002  out's shape is not the result's
//           (here success is returned when self is empty)
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnMaxPoolGetWorkspaceSize(const aclTensor* self, const aclIntArray* kernelShape, const
    aclIntArray* strides, const int64_t autoPad, const aclIntArray* pads, const aclIntArray* dilations, const int64_t
    ceilMode, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMaxPool(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MAX_POOL_H_
