// aclnnop/aclnn_soft_margin_loss.h: aclnnSoftMarginLoss, the logistic loss of two classes, 1 and -1.
// SPDX-License-Identifier: Apache-2.0
//
//   l   = log(1 + exp(-target * self))
//   out = l                                        reduction "none"
//         the sum of all of l, divided by their number for "mean"
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. l is worked out in float64 and rounded to FLOAT.
// Types: each of the product's list ("Losses").
// Shapes: R is the common shape to which self and target broadcast. When that is empty, nothing is written for none and for other
//   numbers than 0 to 2, NaN for mean, 0 for sum. Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_SOFT_MARGIN_LOSS_H_
#define PORTACL_ACLNNOP_ACLNN_SOFT_MARGIN_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self, target  input
//   reduction     0 none, 1 mean; every other number is a sum
//   out           R for none, else []
// Codes, after those that all operators share, in this order:
//   161001  self, target or out is null
//   161002  a type is not in the product's list;  more than 8 dims;  self and target do not broadcast
//   161002  out has not the shape R (none), or is not 0-dim (the others)
//           (here success is returned when R is empty)
//   561103  an input that is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnSoftMarginLossGetWorkspaceSize(const aclTensor* self, const aclTensor* target, int64_t reduction,
    aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSoftMarginLoss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SOFT_MARGIN_LOSS_H_
