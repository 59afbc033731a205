// aclnnop/aclnn_rms_norm.h: aclnnRmsNorm, rows over the last dims brought to a mean square of 1.
// SPDX-License-Identifier: Apache-2.0
//
// yOut = x * rstd * gamma, rstd = 1 / sqrt(mean(x * x) + epsilon), the mean that of each row of the dims that gamma has.
//
// Types: FLOAT, FLOAT16; BF16 from Atlas A2 on; none on Atlas training products and Atlas 200I/500 A2. gamma: x's, or FLOAT but on
// Atlas inference products. yOut: x's. rstdOut: FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_RMS_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_RMS_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT; epsilon is rounded to it.
//   x        tensor of 1 to 8 dims
//   gamma    of the shape of its last dims
//   yOut     result, of x's shape
//   rstdOut  x's other dims, after which dims of 1 may follow
// Codes, after those that all operators share, in this order:
//   161001  x, gamma, yOut or rstdOut is null
//   161002  a type is not in the list or does not go with x's
//   561002  a rank or shape is another; gamma is empty; epsilon is negative
//           (here success is returned when x is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnRmsNormGetWorkspaceSize(const aclTensor* x, const aclTensor* gamma, double epsilon,
    const aclTensor* yOut, const aclTensor* rstdOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRmsNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RMS_NORM_H_
