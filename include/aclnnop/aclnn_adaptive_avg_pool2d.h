// aclnnop/aclnn_adaptive_avg_pool2d.h: aclnnAdaptiveAvgPool2d, the means of as many windows as are asked for.
// SPDX-License-Identifier: Apache-2.0
//
// Window i of an axis of n elements and m windows goes from i * n / m, rounded down, to (i + 1) * n / m, rounded up. out is the mean of
// each: a float32 sum from +0 on over its elements in row-major order, divided by their number, rounded once.
//
// Types: float32, float16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL2D_H_
#define PORTACL_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self        images, 4 dims in the format NCHW or 3 in NCL
//   outputSize  windows down and across: out's last two dims
//   out         result
// Codes, after those that all operators share, in this order:
//   161001  self, outputSize or out is null
//   161002  self does not have 3 or 4 dims; out has another number of them, or another dim before the last two
//   161002  self's type is not in the list, out's another one; a format is another one
//   161002  outputSize does not have two values, one is less than 1 (on Ascend 950: than 0), or they are not out's last dims
//           (here success is returned when self or out is empty: out is not written)
//   561103  planes of 2^31 elements or more
// clang-format off
ACLNN_API aclnnStatus aclnnAdaptiveAvgPool2dGetWorkspaceSize(const aclTensor* self, const aclIntArray* outputSize,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAdaptiveAvgPool2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADAPTIVE_AVG_POOL2D_H_
