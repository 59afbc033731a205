// aclnnop/aclnn_kl_div.h: aclnnKlDiv, the Kullback-Leibler divergence.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which self and target broadcast:
//
//   l   = t * (log(t) - self)       t = target; log(0) counts as 0
//   l   = exp(t) * (t - self)       when logTarget is true
//   out = l                                        reduction "none"
//         the sum of all of l                      "sum"
//         the sum of all of l * c                  "mean" and "batchmean"
//   c   = 1 / (number of elements of R) for mean, 1 / R[0] for batchmean (1 for rank 0)
//
// as CANN's aclnnKlDiv computes it. PyTorch differs in one point: its "batchmean" divides by self's first dimension before
// broadcasting. The gradient for self is aclnnKlDivBackward, that for target aclnnKlDivTargetBackward.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. A zero target multiplies like any other: its term is a zero of either sign, and
//   NaN where self is infinite or NaN. A negative target without logTarget gives NaN.
// Types: each of the product's list ("Losses").
// Shapes: out has exactly the shape R for reduction none ([] or [1] when both are scalars), and one element in any shape for
//   the others. When self or target is empty, whether or not they broadcast, nothing is written for none, NaN for mean, 0 for
//   sum, and for batchmean NaN where self's first dimension is 0, else 0. Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_KL_DIV_H_
#define PORTACL_ACLNNOP_ACLNN_KL_DIV_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self           logarithm of the predicted distribution, input
//   target         true distribution, or its logarithm, input
//   reduction      0 none, 1 mean, 2 sum, 3 batchmean
//   logTarget      whether target holds logarithms
//   out            loss, output
// Codes, after those that all operators share, in this order:
//   161001  self, target or out is null
//   161002  the type of self, target or out is not in the product's list
//   161002  self or target has more than 8 dimensions
//   161002  reduction is not 0, 1, 2 or 3
//   561103  self or target is empty and out has not exactly one element (mean, sum, batchmean)
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
//   161002  self and target do not broadcast
//   161002  out has not the shape R, nor [1] for two scalars (none), or not exactly one element (the others)
ACLNN_API aclnnStatus aclnnKlDivGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                 int64_t reduction, bool logTarget, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnKlDiv(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_KL_DIV_H_
