// aclnnop/aclnn_kl_div_target_backward.h: aclnnKlDivTargetBackward, the gradient of the KL divergence for target.
// SPDX-License-Identifier: Apache-2.0
//
// The loss (Kullback-Leibler divergence) is target * (log(target) - self), or exp(target) * (target - self) when target holds
// logarithms. With R the common shape to which self and target broadcast, gradOutput broadcast to R, and G = gradOutput * c:
//
//   y          = (G * log(target) - G * self) + (G * target) / target
//   y          = (G * (target - self)) * exp(target) + G * exp(target)      when logTarget is true
//   gradTarget = y, summed over the axes along which target was broadcast
//   c          = 1 / (number of elements of R) for reduction "mean", 1 / R[0] for "batchmean" (1 for rank 0), else 1
//
// as PyTorch's autograd has it for a mean over R, and CANN's aclnnKlDivTargetBackward on Atlas A2 and A3; on Ascend 950 CANN
// divides by the elements of self before broadcasting, this library by those of R everywhere.
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. Without logTarget a zero target gives NaN, from 0 / 0, and a negative one NaN,
//   from its logarithm.
// Types: each of the product's list ("Losses"). gradTarget has target's type. The product's list is empty but on Atlas A2, A3
//   and Ascend 950.
// Shapes: gradOutput must broadcast to R without enlarging it. gradTarget has exactly target's shape. When self or target is
//   empty, the workspace is 0 and nothing is written: also where gradTarget has elements. Private formats are refused; other
//   formats change nothing. Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput     gradient of the loss, input; self: logarithm of the predicted distribution, input
//   target         true distribution, or its logarithm, input
//   reduction      0 none, 1 mean, 2 sum, 3 batchmean: how the loss was reduced; any other value acts as none, as in CANN
//   logTarget      whether target holds logarithms
//   gradTarget     gradient for target, output
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, target or gradTarget is null
//   161002  self's type cannot be cast to gradTarget's
//   161002  the type of gradOutput, self, target or gradTarget is not in the product's list, or gradTarget's not target's
//   161002  gradOutput, self, target or gradTarget has more than 8 dimensions
//   161002  self and target do not broadcast, or gradOutput not to R
//   161002  gradTarget's shape is not target's; a tensor is in a private format
//           (here success is returned when self is empty)
//   561103  an input that is not dense and reaches outside its storage
//           (here success is returned when target is empty)
ACLNN_API aclnnStatus aclnnKlDivTargetBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                               const aclTensor* self, const aclTensor* target,
                                                               int64_t reduction, bool logTarget,
                                                               aclTensor* gradTarget, uint64_t* workspaceSize,
                                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnKlDivTargetBackward(void* workspace, uint64_t workspaceSize,
                                               aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_KL_DIV_TARGET_BACKWARD_H_
