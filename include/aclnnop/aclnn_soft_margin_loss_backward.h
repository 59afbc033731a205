// aclnnop/aclnn_soft_margin_loss_backward.h: aclnnSoftMarginLossBackward, the gradient of aclnnSoftMarginLoss for self.
// SPDX-License-Identifier: Apache-2.0
//
//   out = -target / (1 + exp(target * self)) * c * gradOutput;  c = 1 / (number of elements of out) for mean, else 1
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. The quotient is worked out in float64 and rounded to FLOAT.
// Types: each of the product's list ("Losses"). Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_SOFT_MARGIN_LOSS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SOFT_MARGIN_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the loss;  self, target  input
//   reduction   0 none, 1 mean, 2 sum
//   out         of the shape to which these three broadcast
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, target or out is null
//   161002  a type is not in the product's list;  more than 8 dims;  the three do not broadcast;  out has not that shape
//   161002  reduction is not 0, 1 or 2
//           (here success is returned when one of them is empty)
//   561103  an input that is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnSoftMarginLossBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
    const aclTensor* target, int64_t reduction, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSoftMarginLossBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SOFT_MARGIN_LOSS_BACKWARD_H_
