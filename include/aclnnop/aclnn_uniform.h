// aclnnop/aclnn_uniform.h: aclnnInplaceUniform and aclnnInplaceUniformTensor, uniformly distributed numbers.
// SPDX-License-Identifier: Apache-2.0
//
//   selfRef[i] = from + u * (to - from), u from 0 to below 1
//
// Values: computed in float32 with u of 24 bits, of DOUBLE and integers in float64 with 53; rounded once, integers cut
//   toward zero. What is rounded to `to` becomes `from`, so that `to` never occurs, but where both are the same. The bounds are
//   rounded to selfRef's type first (of integers they stay), one beyond it to its greatest number.
// Types
//   selfRef  FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_UNIFORM_H_
#define PORTACL_ACLNNOP_ACLNN_UNIFORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h; selfRef is written, although it is const.
//   selfRef       result, of up to 8 dimensions and any strides
//   from, to      bounds; NaN passes
//   seed, offset  where the numbers begin: "Random numbers" in aclnnop/aclnn_util.h
//   seedTensor, offsetTensor  INT64 or UINT64 tensors of one element, read when the work runs; offset is added
//                 to the latter
// Codes, after those that all operators share, in this order:
//   161001  selfRef, seedTensor or offsetTensor is null
//   161002  selfRef's type is not in the list
//   161002  selfRef has more than 8 dimensions
//   161002  from is greater than to
//   161002  seedTensor or offsetTensor has another type, or not one element
//           (here success is returned when selfRef is empty)
//   161001  selfRef reaches outside its storage
ACLNN_API aclnnStatus aclnnInplaceUniformGetWorkspaceSize(const aclTensor* selfRef, double from, double to,
                                                          uint64_t seed, uint64_t offset,
                                                          uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceUniform(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                          aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceUniformTensorGetWorkspaceSize(const aclTensor* selfRef, double from,
                                                                double to, const aclTensor* seedTensor,
                                                                const aclTensor* offsetTensor,
                                                                uint64_t offset, uint64_t* workspaceSize,
                                                                aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceUniformTensor(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UNIFORM_H_
