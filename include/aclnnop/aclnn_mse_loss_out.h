// aclnnop/aclnn_mse_loss_out.h: aclnnMseLossOut, the mean squared error over the first axis.
// SPDX-License-Identifier: Apache-2.0
//
// With R the common shape to which self and target broadcast:
//
//   l   = (self - target)^2
//   out = l                                         reduction "none"
//         the sum of l over the first axis of R     "sum"
//         that sum * c, c = 1 / R[0]                "mean"
//
// as CANN's aclnnMseLossOut computes it, but without rounding l to the inputs' type before it is summed. A scalar R has no axis
// to lose: sum and mean are l. aclnnMseLoss reduces over everything.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h.
// Types: each of the product's list ("Losses").
// Shapes: out has exactly the shape R for reduction none, and R without its first axis for mean and sum. When self or target is
//   empty, the workspace is 0 and nothing is written, also where out has elements. Views and overlap: "Views" in
//   aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_MSE_LOSS_OUT_H_
#define PORTACL_ACLNNOP_ACLNN_MSE_LOSS_OUT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self, target   prediction and truth, inputs
//   reduction      0 none, 1 mean over the first axis, 2 sum over the first axis
//   out            loss, output
// Codes, after those that all operators share, in this order:
//   161001  self, target or out is null
//   161002  self and target do not promote, or to a type that is not in the product's list
//   161002  the type of self, target or out is not in the product's list
//   161002  reduction is not 0, 1 or 2
//   161002  self or target has more than 8 dimensions
//   161002  self and target do not broadcast
//   161002  out's shape is not R (none), or not R without its first axis (mean, sum)
//           (here success is returned when self or target is empty)
//   561103  an input that is not dense and reaches outside its storage
ACLNN_API aclnnStatus aclnnMseLossOutGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
                                                      int64_t reduction, aclTensor* out,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMseLossOut(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MSE_LOSS_OUT_H_
