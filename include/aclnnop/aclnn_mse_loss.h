// aclnnop/aclnn_mse_loss.h: aclnnMseLoss, the mean squared error.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which self and target broadcast:
//
//   l   = (self - target)^2
//   out = l                          reduction "none"
//         the sum of all of l        "sum"
//         the sum of all of l * c    "mean"
//   c   = 1 / (number of elements of R)
//
// as CANN's aclnnMseLoss and PyTorch's mse_loss compute it. Its gradient is aclnnMseLossBackward; aclnnMseLossOut reduces over
// the first axis alone.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h.
// Types: each of the product's list ("Losses").
// Shapes: out has exactly the shape R for reduction none, and is 0-dim for mean and sum: [1] is refused. When self or target is
//   empty, nothing is written for none, NaN for mean and 0 for sum. Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_MSE_LOSS_H_
#define PORTACL_ACLNNOP_ACLNN_MSE_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self, target   prediction and truth, inputs
//   reduction      0 none, 1 mean, 2 sum
//   out            loss, output
// Codes, after those that all operators share, in this order:
//   161001  self, target or out is null
//   161002  self and target do not promote, or to a type that is not in the product's list
//   161002  the type of self, target or out is not in the product's list
//   161002  reduction is not 0, 1 or 2
//   161002  self or target has more than 8 dimensions
//   161002  self and target do not broadcast
//   161002  out's shape is not R (none), or out is not 0-dim (mean, sum)
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
ACLNN_API aclnnStatus aclnnMseLossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                   int64_t reduction, aclTensor* out, uint64_t* workspaceSize,
                                                   aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMseLoss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MSE_LOSS_H_
