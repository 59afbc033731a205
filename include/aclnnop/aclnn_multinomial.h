// aclnnop/aclnn_multinomial.h: aclnnMultinomial and aclnnMultinomialTensor, indices drawn by weights.
// SPDX-License-Identifier: Apache-2.0
//
//   out[r, k] = an index of row r of self, with a probability in proportion to its weight
//
// Values: with replacement, and of more than one sample, the first index up to which the weights' sum, in float64, is greater than u
//   times that of all. Else the indices of the greatest self[r, i] / E, E exponential, in descending order; of equal ones
//   the lower index first. Weights of 0 come last. Weights that are negative or NaN, and rows of zeros, are not refused:
//   the former count as 0, and any index may come.
// Types
//   self  FLOAT, FLOAT16, DOUBLE; BF16 on newer products.
//   out   INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_MULTINOMIAL_H_
#define PORTACL_ACLNNOP_ACLNN_MULTINOMIAL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. Without replacement the workspace is 16 bytes for each sample, else 8 for each weight,
// and none for one sample.
//   self          weights, of shape [C] or [rows, C]
//   numsamples    samples of each row
//   seed, offset  where the numbers begin: "Random numbers" in aclnnop/aclnn_util.h
//   seedTensor, offsetTensor  INT64 tensors of one element, read when the work runs; offset is added to the latter
// Codes, after those that all operators share, in this order:
//   161001  self, seedTensor, offsetTensor or out is null
//   161002  self's type is not in the list; out is not INT64
//   161002  self has neither 1 nor 2 dimensions; out has not as many
//   161002  out's last dimension is not numsamples; the rows differ
//   161002  numsamples is not positive; without replacement: it is more than C
//   161002  C is more than 2^24
//   161002  seedTensor or offsetTensor is not INT64 with one element
//           (here success is returned when self is empty)
//   561103  self reaches outside its storage
ACLNN_API aclnnStatus aclnnMultinomialGetWorkspaceSize(const aclTensor* self, int64_t numsamples,
                                                       bool replacement, int64_t seed, int64_t offset,
                                                       aclTensor* out, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMultinomial(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);
ACLNN_API aclnnStatus aclnnMultinomialTensorGetWorkspaceSize(const aclTensor* self, int64_t numsamples,
                                                             bool replacement, const aclTensor* seedTensor,
                                                             const aclTensor* offsetTensor, int64_t offset,
                                                             aclTensor* out, uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMultinomialTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MULTINOMIAL_H_
