// aclnnop/aclnn_adaptive_max_pool2d.h: aclnnAdaptiveMaxPool2d, the largest element of each of as many windows as are asked for, and its index.
// SPDX-License-Identifier: Apache-2.0
//
// Window i of an axis of n elements and m windows goes from i * n / m, rounded down, to (i + 1) * n / m, rounded up. outputOut is a
// window's first largest element, or its last NaN, indicesOut its place h * W + w.
// Where self has 4 dims and the format NHWC, its axes are the second and the third dim, and so are those of the results.
//
// Types: float32, float16, float64; BF16 on newer products. indicesOut: INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_H_
#define PORTACL_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self                   images, 3 or 4 dims; N, C, H and W, or as its format says N, H, W and C
//   outputSize             windows down and across
//   outputOut, indicesOut  results
// Codes, after those that all operators share, in this order:
//   161001  self, outputSize, outputOut or indicesOut is null
//   161002  self's type is not in the list, outputOut's another one; indicesOut's is not INT64; self does not have 3 or 4 dims
//   161002  the results' shapes differ; outputSize does not have two values, or one is less than 1; a dim of self besides the batch is 0
//           (here success is returned when self is empty)
//   561103  outputOut has another number of elements than the result; or another shape, and is not contiguous; planes of 2^31 elements or
//           more
// clang-format off
ACLNN_API aclnnStatus aclnnAdaptiveMaxPool2dGetWorkspaceSize(const aclTensor* self, const aclIntArray* outputSize,
    aclTensor* outputOut, aclTensor* indicesOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAdaptiveMaxPool2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADAPTIVE_MAX_POOL2D_H_
