// aclnnop/aclnn_normal_out.h: normal numbers of which the mean or the standard deviation may be a tensor.
// SPDX-License-Identifier: Apache-2.0
//
//   out[i] = mean[i] + z * std[i], z of the standard normal distribution
//
// Values: computed in float32, where one of the tensors is DOUBLE in float64; the sum is rounded once. Every element of out has
//   its own z, also where mean and std are broadcast. A negative std is not refused.
// Types
//   mean, std, out  floats (BF16 everywhere) and DOUBLE, mixed freely.
#ifndef PORTACL_ACLNNOP_ACLNN_NORMAL_OUT_H_
#define PORTACL_ACLNNOP_ACLNN_NORMAL_OUT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and, of seed and offset, "Random numbers" in aclnnop/aclnn_util.h.
//   mean, std     numbers, or tensors that broadcast to out's shape (std of aclnnNormalFloatTensor has it)
// Codes, after those that all operators share, in this order:
//   161001  a tensor is null
//   161002  a tensor has more than 8 dimensions
//   161002  out's shape is not that to which mean and std broadcast; aclnnNormalTensorFloat: mean enlarges it;
//           aclnnNormalFloatTensor: std has another shape or is empty (with an empty out std may have one element)
//   161002  a tensor's type is not in the list
//           (here success is returned when out is empty)
//   561103  mean or std reaches outside its storage
//   561103  a tensor is DOUBLE and the processor has no fused multiply-add
ACLNN_API aclnnStatus aclnnNormalTensorTensorGetWorkspaceSize(const aclTensor* mean, const aclTensor* std,
                                                              int64_t seed, int64_t offset, aclTensor* out,
                                                              uint64_t* workspaceSize,
                                                              aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNormalTensorTensor(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnNormalTensorFloatGetWorkspaceSize(const aclTensor* mean, float std, int64_t seed,
                                                             int64_t offset, aclTensor* out,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNormalTensorFloat(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);
ACLNN_API aclnnStatus aclnnNormalFloatTensorGetWorkspaceSize(float mean, const aclTensor* std, int64_t seed,
                                                             int64_t offset, aclTensor* out,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNormalFloatTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);
ACLNN_API aclnnStatus aclnnNormalFloatFloatGetWorkspaceSize(float mean, float std, int64_t seed,
                                                            int64_t offset, aclTensor* out,
                                                            uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNormalFloatFloat(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NORMAL_OUT_H_
