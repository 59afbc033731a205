// aclnnop/aclnn_smooth_l1_loss_backward.h: aclnnSmoothL1LossBackward, gradient of the smooth L1 loss.
// SPDX-License-Identifier: Apache-2.0
//
// The loss is d * d / (2 * beta) where |d| < beta and |d| - beta / 2 elsewhere, d = self - target. With R the common shape to
// which gradOut, self and target broadcast:
//
//   gradInput = (f * gradOut) * c
//   f = d / beta where |d| < beta, else the sign of d (+1, -1, and +0 for d = 0)
//   c = 1 / (number of elements of self, before it is broadcast) for reduction "mean", else 1
//
// CANN's aclnnSmoothL1LossBackward and PyTorch's smooth_l1_loss_backward have this divisor and this formula; where CANN's
// products differ from each other at |d| = beta and for tiny beta, the formula above holds exactly.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. f is exactly +1 or -1 at |d| = beta; beta = 0 gives the gradient of the L1 loss (0
//   where d = 0); beta = infinity gives 0 for finite d and +1 or -1 for infinite d. NaN in self or target gives NaN.
// Types: each of the product's list ("Losses").
// Shapes: gradInput has exactly the shape R, for every reduction. When R is empty, the workspace is 0 and nothing is written.
//   Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOut        gradient of the loss, input
//   self, target   prediction and truth, inputs
//   reduction      0 none, 1 mean, 2 sum: how the loss was reduced. none and sum give the same gradient
//   beta           where the quadratic part meets the linear one: 0 (also -0) or more, infinity included
//   gradInput      gradient for self, output
// Codes, after those that all operators share, in this order:
//   161001  gradOut, self, target or gradInput is null
//   161002  the type of gradOut, self, target or gradInput is not in the product's list
//   161002  gradOut, self or target has more than 8 dimensions
//   161002  reduction is not 0, 1 or 2
//   161002  beta is negative or NaN
//   161002  the inputs do not broadcast, or gradInput's shape is not the result
//           (here success is returned when an input is empty)
//   561103  an input that is not dense and reaches outside its storage
ACLNN_API aclnnStatus aclnnSmoothL1LossBackwardGetWorkspaceSize(
    const aclTensor* gradOut, const aclTensor* self, const aclTensor* target, int64_t reduction, float beta,
    aclTensor* gradInput, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSmoothL1LossBackward(void* workspace, uint64_t workspaceSize,
                                                aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SMOOTH_L1_LOSS_BACKWARD_H_
