// aclnnop/aclnn_normal.h: aclnnInplaceNormal and aclnnInplaceNormalTensor, normally distributed numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   selfRef[i] = mean + z * std, z of the standard normal distribution
//
// Values: computed in float32, of DOUBLE in float64; the sum is rounded once. Integers and BOOL are converted from the float32
//   numbers.
// Types
//   selfRef  FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_NORMAL_H_
#define PORTACL_ACLNNOP_ACLNN_NORMAL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h; selfRef is written, although it is const.
//   selfRef       result, of up to 8 dimensions and any strides
//   mean, std     mean and standard deviation; NaN passes
//   seed, offset  where the numbers begin: "Random numbers" in aclnnop/aclnn_util.h
//   seedTensor, offsetTensor  INT64 tensors of shape [1], read when the work runs; offset is added to the latter
// Codes, after those that all operators share, in this order:
//   161001  seedTensor or offsetTensor is null
//   161002  seedTensor or offsetTensor is not INT64, or not of shape [1]
//   161001  selfRef is null
//   161002  std is negative
//   161002  selfRef's type is not in the list
//   161002  selfRef has more than 8 dimensions
//           (here success is returned when selfRef is empty)
//   561103  selfRef reaches outside its storage
//   561103  selfRef is DOUBLE and the processor has no fused multiply-add
ACLNN_API aclnnStatus aclnnInplaceNormalGetWorkspaceSize(const aclTensor* selfRef, float mean, float std,
                                                         int64_t seed, int64_t offset,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceNormal(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceNormalTensorGetWorkspaceSize(const aclTensor* selfRef, float mean,
                                                               float std, const aclTensor* seedTensor,
                                                               const aclTensor* offsetTensor, int64_t offset,
                                                               uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceNormalTensor(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NORMAL_H_
