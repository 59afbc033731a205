// aclnnop/aclnn_mse_loss_backward.h: aclnnMseLossBackward, the gradient of the mean squared error.
// SPDX-License-Identifier: Apache-2.0
//
// The loss is (self - target)^2. With R the common shape to which gradOutput, self and target broadcast:
//
//   out = ((self - target) * c) * gradOutput
//   c   = 2 / (number of elements of self, before it is broadcast) for reduction "mean", else 2
//
// CANN's aclnnMseLossBackward and PyTorch's mse_loss_backward have this divisor and this formula.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. c = float(2.0 / double(n)).
// Types: gradOutput, self and target have the same type, of the product's list. out has a type of the list, which may differ
//   from theirs.
// Shapes: out has exactly the shape R, for every reduction. When an input is empty, the workspace is 0 and nothing is written.
//   Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_MSE_LOSS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_MSE_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput     gradient of the loss, input
//   self, target   prediction and truth, inputs
//   reduction      0 none, 1 mean, 2 sum: how the loss was reduced. none and sum give the same gradient
//   out            gradient for self, output
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, target or out is null
//   161002  the type of gradOutput or target is not self's
//   161002  the type of self or out is not in the product's list
//   161002  reduction is not 0, 1 or 2
//   161002  gradOutput, self or target has more than 8 dimensions
//   161002  the inputs do not broadcast, or out's shape is not R
//           (here success is returned when an input is empty)
//   561103  an input that is not dense and reaches outside its storage
ACLNN_API aclnnStatus aclnnMseLossBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                           const aclTensor* target, int64_t reduction,
                                                           aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMseLossBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MSE_LOSS_BACKWARD_H_
