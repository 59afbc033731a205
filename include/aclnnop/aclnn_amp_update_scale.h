// aclnnop/aclnn_amp_update_scale.h: aclnnAmpUpdateScale, the factor of losses in mixed precision.
// SPDX-License-Identifier: Apache-2.0
//
// foundInf is not 0: scale = currentScale * backoffFactor, tracker = 0. Else n = growthTracker + 1; where n is growthInterval, scale =
// currentScale * growthFactor, if that is finite, and tracker = 0; else tracker = n. In float32, rounded to the type at the end.
//
// Types: FLOAT, FLOAT16, BF16, one for scales and foundInf; trackers INT32; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_AMP_UPDATE_SCALE_H_
#define PORTACL_ACLNNOP_ACLNN_AMP_UPDATE_SCALE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   currentScale, foundInf       one element each
//   growthTracker                one element
//   growthFactor, backoffFactor  any numbers, rounded to float32
//   growthInterval               1 to 2^31 - 1
//   updatedScale                 scale; may be currentScale
//   updatedGrowthTracker         tracker; may be growthTracker
// Codes, after those that all operators share, in this order:
//   161001  a tensor is null
//   161002  a type is not in the list, or differs from currentScale's; a tracker is not INT32
//   561002  a tensor has not one element; growthInterval is outside its range
// clang-format off
ACLNN_API aclnnStatus aclnnAmpUpdateScaleGetWorkspaceSize(const aclTensor* currentScale, const aclTensor* growthTracker,
    const aclTensor* foundInf, double growthFactor, double backoffFactor, int64_t growthInterval, aclTensor* updatedScale,
    aclTensor* updatedGrowthTracker, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAmpUpdateScale(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AMP_UPDATE_SCALE_H_
