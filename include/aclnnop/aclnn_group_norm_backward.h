// aclnnop/aclnn_group_norm_backward.h: aclnnGroupNormBackward, the gradients of aclnnGroupNorm.
// SPDX-License-Identifier: Apache-2.0
//
// h = (input - mean) * rstd, g = gradOut * gamma, the means of g and g * h those of each group; sums for each channel over the N.
// gradInput = rstd * (g - mean(g) - h * mean(g * h)), gradGammaOut = sum(gradOut * h), gradBetaOut = sum(gradOut)
//
// Types: FLOAT, FLOAT16; BF16 on newer products. All have one; on Ascend 950 mean may be FLOAT, and rstd, gamma and their gradients are as mean.
#ifndef PORTACL_ACLNNOP_ACLNN_GROUP_NORM_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_GROUP_NORM_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   gradOut, input  N * C * HxW elements
//   mean, rstd      N * group elements, as aclnnGroupNorm gives them
//   gamma           C elements, or null (1)
//   N, C, HxW, group
//   outputMask      which of the three gradients are computed; the others may be null
//   gradInput       of input's shape;  gradGammaOut, gradBetaOut  of gamma's, or [C]
// Codes, after those that all operators share, in this order:
//   161001  gradOut, input, mean or rstd is null
//   161002  outputMask is null or has not 3 values, or names a gradient that is null
//   161002  a type is not in the list or differs; group is not above 0 or does not divide C
//   161002  on Atlas A2 and A3 C is above 240000, or C / group above 8000; more than 8 dims; a number of elements or a shape is another
//           (here success is returned when gradOut or input is empty)
//   561103  a tensor is neither dense nor of the dims that N, C, HxW and group name
// clang-format off
ACLNN_API aclnnStatus aclnnGroupNormBackwardGetWorkspaceSize(const aclTensor* gradOut, const aclTensor* input,
    const aclTensor* mean, const aclTensor* rstd, const aclTensor* gamma, int64_t N, int64_t C, int64_t HxW,
    int64_t group, const aclBoolArray* outputMask, aclTensor* gradInput, aclTensor* gradGammaOut,
    aclTensor* gradBetaOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGroupNormBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GROUP_NORM_BACKWARD_H_
