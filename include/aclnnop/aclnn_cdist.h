// aclnnop/aclnn_cdist.h: aclnnCdist, distances of all rows of one matrix from all rows of another.
// SPDX-License-Identifier: Apache-2.0
//
// out[..., i, j] = (sum over m of abs(x1[..., i, m] - x2[..., j, m])^p)^(1/p)
//   p = 0: how many differences are not 0;  p = infinity: the largest of abs(..). NaN where a difference is NaN.
//
// Types, on Atlas A2, A3 and Ascend 950 alone: FLOAT, FLOAT16, BF16; all have one.
#ifndef PORTACL_ACLNNOP_ACLNN_CDIST_H_
#define PORTACL_ACLNNOP_ACLNN_CDIST_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. Computed in FLOAT, in an order that no shape or layout changes; no workspace.
//   x1, x2        [..., P, M] and [..., R, M] of 2 to 8 dims; dims before the last two broadcast
//   p             0 or more, infinity too
//   compute_mode  2 with p = 2; else any: differences are always summed as they are
//   out           [..., P, R]; where that is one element, any shape of one
// Codes, after those that all operators share, in this order:
//   161001  x1, x2 or out is null
//   161002  x1's, x2's or out's type is not in the list; x1's or x2's is not out's; fewer than 2 dims or more than 8; the last dims of x1 and
//           x2 differ; p is negative or NaN; p is within 1e-6 of 2 and compute_mode is not 2
//           (here success is returned when x1 or x2 has a dim 0 other than the last)
//   161002  dims before the last two do not broadcast
//   561103  out has another shape
// clang-format off
ACLNN_API aclnnStatus aclnnCdistGetWorkspaceSize(const aclTensor* x1, const aclTensor* x2, float p, int64_t compute_mode,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCdist(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CDIST_H_
