// aclnnop/aclnn_random.h: random integers: aclnnInplaceRandom, without bounds, and both with the seed in tensors.
// SPDX-License-Identifier: Apache-2.0
//
//   selfRef[i] = one of the integers from, from + 1 ... to - 1
//
// Values: each as likely as any other, to 2^-32 of its probability. Integer types keep the low bits. Of a floating type the
//   bounds move inward to numbers that it has, so that rounding leads to none beyond; the rest is rounded once. BOOL with the
//   bounds 0 and 1 gets both values, as PyTorch's NPU back end means it. Without bounds: 0 to the greatest number of the
//   type, inclusive; of a floating type to 2^11 (FLOAT16), 2^8 (BF16), 2^24 (FLOAT), 2^53 (DOUBLE).
// Types
//   selfRef  floats (BF16 everywhere), DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL; with bounds also COMPLEX64 and
//            COMPLEX128, but on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_RANDOM_H_
#define PORTACL_ACLNNOP_ACLNN_RANDOM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h; selfRef is written, although it is const. seed, offset: "Random numbers" there.
// seedTensor, offsetTensor: INT64 or UINT64 tensors of one element, read when the work runs; offset is added to the latter.
// Codes, after those that all operators share, in this order:
//   161001  selfRef, seedTensor or offsetTensor is null
//   161002  selfRef's type is not in the list
//   161002  selfRef has more than 8 dimensions
//   161002  from is not less than to
//   161002  seedTensor or offsetTensor has another type, or not one element
//           (here success is returned when selfRef is empty)
//   161001  selfRef reaches outside its storage
ACLNN_API aclnnStatus aclnnInplaceRandomGetWorkspaceSize(const aclTensor* selfRef, int64_t from, int64_t to,
                                                         int64_t seed, int64_t offset,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRandom(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRandomTensorGetWorkspaceSize(const aclTensor* selfRef, int64_t from,
                                                               int64_t to, const aclTensor* seedTensor,
                                                               const aclTensor* offsetTensor, int64_t offset,
                                                               uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRandomTensor(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRandomWithoutFromToGetWorkspaceSize(const aclTensor* selfRef, int64_t seed,
                                                                      int64_t offset, uint64_t* workspaceSize,
                                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRandomWithoutFromTo(void* workspace, uint64_t workspaceSize,
                                                      aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRandomWithoutFromToTensorGetWorkspaceSize(
    const aclTensor* selfRef, const aclTensor* seedTensor, const aclTensor* offsetTensor, int64_t offset,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRandomWithoutFromToTensor(void* workspace, uint64_t workspaceSize,
                                                            aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RANDOM_H_
