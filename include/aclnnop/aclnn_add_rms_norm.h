// aclnnop/aclnn_add_rms_norm.h: aclnnAddRmsNorm, aclnnRmsNorm of a sum.
// SPDX-License-Identifier: Apache-2.0
//
// xOut = x1 + x2, yOut = x * rstd * gamma, rstd = 1 / sqrt(mean(x * x) + epsilon), x the sum before it is rounded.
// rstdOut may be null, xOut too, but not xOut alone.
//
// Types: FLOAT, FLOAT16; BF16 from Atlas A2 on; none on Atlas training products and Atlas 200I/500 A2; without rstdOut no FLOAT. All have
// one; rstdOut: FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_ADD_RMS_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_ADD_RMS_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT; epsilon is rounded to it.
//   x1, x2   tensors of one shape, of 1 to 8 dims
//   gamma    of the shape of their last dims, dims of 1 before which mean nothing
//   yOut     result;  rstdOut  x1's other dims, then dims of 1;  xOut  the sum
// Codes, after those that all operators share, in this order:
//   161001  x1, x2, gamma or yOut is null; xOut is, and rstdOut is not
//   161002  a type is not in the list or differs; no dims or more than 8; shapes differ; without rstdOut gamma has more than 2 dims
//           (here success is returned when x1 or gamma is empty)
//   561002  gamma or rstdOut has another shape
// clang-format off
ACLNN_API aclnnStatus aclnnAddRmsNormGetWorkspaceSize(const aclTensor* x1, const aclTensor* x2, const aclTensor* gamma,
    double epsilon, aclTensor* yOut, aclTensor* rstdOut, aclTensor* xOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddRmsNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADD_RMS_NORM_H_
