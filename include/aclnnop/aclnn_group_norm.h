// aclnnop/aclnn_group_norm.h: aclnnGroupNorm, groups of channels brought to mean 0 and variance 1.
// SPDX-License-Identifier: Apache-2.0
//
// out = (self - mean) * rstd * gamma + beta, rstd = 1 / sqrt(variance + eps); mean and variance (not corrected) are those of C / group channels
// of one of the N. gamma and beta belong to channels; a missing gamma is 1, a missing beta 0. eps is rounded to float.
//
// Types: FLOAT, FLOAT16; BF16 on newer products. All have one.
#ifndef PORTACL_ACLNNOP_ACLNN_GROUP_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_GROUP_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   self         [N, C, ...] of 2 to 8 dims, with HxW elements for each channel
//   gamma, beta  [C], or null
//   N, C, HxW, group, eps
//   out          result, of self's shape;  meanOut, rstdOut  [N, group]
// Codes, after those that all operators share, in this order:
//   161001  self, out, meanOut or rstdOut is null
//   161002  a type is not in the list or differs; group is not above 0 or does not divide C; eps is not above 0
//   161002  less than 2 dims or more than 8; a shape is another
//   161002  formats differ, are private or have the channels last
//           (here success is returned when self is empty: meanOut becomes 0, rstdOut NaN)
// clang-format off
ACLNN_API aclnnStatus aclnnGroupNormGetWorkspaceSize(const aclTensor* self, const aclTensor* gamma,
    const aclTensor* beta, int64_t N, int64_t C, int64_t HxW, int64_t group, double eps, aclTensor* out,
    aclTensor* meanOut, aclTensor* rstdOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGroupNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GROUP_NORM_H_
