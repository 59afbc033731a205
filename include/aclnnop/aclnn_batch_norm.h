// aclnnop/aclnn_batch_norm.h: aclnnBatchNorm, channels brought to mean 0 and variance 1.
// SPDX-License-Identifier: Apache-2.0
//
// output = (input - mean) * invstd * weight + bias for each channel, invstd = 1 / sqrt(variance + eps). In training mean and variance (not
// corrected) are those of the channel, and become saveMean and saveInvstd; runningMean and runningVar become (1 - momentum) of
// themselves plus momentum of the mean and the corrected variance. Else they are runningMean and runningVar. What is missing: weight and
// runningVar 1, bias and runningMean 0. eps is rounded to float.
//
// Types: FLOAT, FLOAT16; BF16 on newer products; none on Atlas 200I/500 A2. Each has one of them; output: input's.
#ifndef PORTACL_ACLNNOP_ACLNN_BATCH_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_BATCH_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   input   2 to 8 dims; channels are dim 1, on Ascend 950 the last one in format NHWC or NDHWC
//   weight, bias, runningMean, runningVar  a number for each channel, or null
//   training, momentum, eps
//   output  result, of input's shape
//   saveMean, saveInvstd  a number for each channel; written in training alone, else they may be null
// Codes, after those that all operators share, in this order:
//   161001  input or output is null; in training saveMean or saveInvstd
//           (here success is returned when input is empty: saveMean becomes 0, saveInvstd NaN)
//   161002  a type is not in the list; input's and output's formats differ, are private or, of 5 dims, not NCDHW (950: or NDHWC)
//   161002  less than 2 dims or more than 8; output's shape is not input's; a tensor has not a number for each channel
//   561103  output's type is not input's
// clang-format off
ACLNN_API aclnnStatus aclnnBatchNormGetWorkspaceSize(const aclTensor* input, const aclTensor* weight,
    const aclTensor* bias, aclTensor* runningMean, aclTensor* runningVar, bool training, double momentum, double eps,
    aclTensor* output, aclTensor* saveMean, aclTensor* saveInvstd, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBatchNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BATCH_NORM_H_
