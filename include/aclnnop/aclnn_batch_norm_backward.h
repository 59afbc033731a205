// aclnnop/aclnn_batch_norm_backward.h: aclnnBatchNormBackward, the gradients of aclnnBatchNorm.
// SPDX-License-Identifier: Apache-2.0
//
// For each channel, with h = (input - mean) * invstd: gradWeight = sum(gradOut * h), gradBias = sum(gradOut). In training mean and invstd are
// saveMean and saveInvstd, gradInput = weight * invstd * (gradOut - gradBias / n - h * gradWeight / n), n the channel's elements.
// Else they are runningMean and 1 / sqrt(runningVar + eps), gradInput = gradOut * (weight * invstd). What is missing: weight, runningVar and
// saveInvstd 1, runningMean and saveMean 0.
//
// Types: those of aclnnBatchNorm; input: gradOut's. On Ascend 950 those of channels: FLOAT or gradOut's, gradInput: gradOut's.
#ifndef PORTACL_ACLNNOP_ACLNN_BATCH_NORM_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_BATCH_NORM_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   gradOut, input  tensors of one shape
//   weight, runningMean, runningVar, saveMean, saveInvstd  a number for each channel, or null; not in training the last two may be empty
//   outputMask      which of the three gradients are computed; the others may be null
//   gradInput       of input's shape;  gradWeight, gradBias  a number for each channel
// Codes, after those that all operators share, in this order:
//   161001  gradOut or input is null
//           (here success is returned when one of them is empty)
//   161001  outputMask is null or has not 3 values, or names a gradient that is null
//   161002  a type is not in the list or does not go with another; formats differ or are private
//   161002  less than 2 dims or more than 8; a shape is another
// clang-format off
ACLNN_API aclnnStatus aclnnBatchNormBackwardGetWorkspaceSize(const aclTensor* gradOut, const aclTensor* input,
    const aclTensor* weight, const aclTensor* runningMean, const aclTensor* runningVar, const aclTensor* saveMean,
    const aclTensor* saveInvstd, bool training, double eps, const aclBoolArray* outputMask, aclTensor* gradInput,
    aclTensor* gradWeight, aclTensor* gradBias, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBatchNormBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BATCH_NORM_BACKWARD_H_
