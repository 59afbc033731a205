// aclnnop/aclnn_kl_div_backward.h: aclnnKlDivBackward, the gradient of the KL divergence for self.
// SPDX-License-Identifier: Apache-2.0
//
// The loss (Kullback-Leibler divergence) is target * (log(target) - self), or exp(target) * (target - self) when target holds
// logarithms. With R the common shape to which self and target broadcast, and gradOutput broadcast to R:
//
//   y   = -(t * gradOutput) * c                t = target, or exp(target) when logTarget is true
//   out = y, summed over the axes along which self was broadcast
//   c   = 1 / (number of elements of R) for reduction "mean", 1 / R[0] for "batchmean" (1 for rank 0), else 1
//
// as CANN's aclnnKlDivBackward computes it. PyTorch differs in one point: its "batchmean" divides by self's first dimension
// before broadcasting. The values of self have no influence on the gradient and are never read: NaN in self does not appear in
// out, and self may have no data address. Targets that are negative or zero are not masked.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. A zero target gives a zero of the opposite sign to t times gradOutput, infinity
//   times 0 gives NaN.
// Types: each of the product's list ("Losses"). No type on Atlas 200I/500 A2 and where no device is set.
// Shapes: gradOutput must broadcast to R without enlarging it. out has exactly self's shape. When self is empty, the workspace
//   is 0 and nothing is written; when only R is empty, out is filled with zeros. Views and overlap: "Views" in
//   aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_KL_DIV_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_KL_DIV_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput     gradient of the loss, input
//   self           logarithm of the predicted distribution, input; only its shape, type and format matter
//   target         true distribution, or its logarithm, input
//   reduction      0 none, 1 mean, 2 sum, 3 batchmean: how the loss was reduced; any other value acts as none, as in CANN
//   logTarget      whether target holds logarithms
//   out            gradient for self, output
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, target or out is null
//   161002  self's type cannot be cast to out's
//   161002  the type of gradOutput, self, target or out is not in the product's list
//   161002  gradOutput, self, target or out has more than 8 dimensions
//   161002  self and target do not broadcast, or gradOutput not to R
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
//   561103  self has the shape R and a format other than ND, and out has another format than self
//   561103  an input that is not dense and reaches outside its storage
ACLNN_API aclnnStatus aclnnKlDivBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                         const aclTensor* target, int64_t reduction,
                                                         bool logTarget, aclTensor* out,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnKlDivBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_KL_DIV_BACKWARD_H_
