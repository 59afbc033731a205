// aclnnop/aclnn_nll_loss_backward.h: aclnnNLLLossBackward, the gradient of aclnnNLLLoss.
// SPDX-License-Identifier: Apache-2.0
//
// out = 0, but -weight[t] * g at class t of each row whose target t is not ignoreIndex; g the row's gradOutput for none, gradOutput for sum,
// gradOutput / totalWeight for mean. Computed in float64, rounded once.
//
// Types: those of aclnnNLLLoss; gradOutput, weight and totalWeight: self's; out: any to which it can be cast.
#ifndef PORTACL_ACLNNOP_ACLNN_NLL_LOSS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_NLL_LOSS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h.
//   gradOutput   target's shape for none, else one element
//   self         [N, C], or [C]; only its shape and type count
//   target, weight, reduction, ignoreIndex  as for aclnnNLLLoss
//   totalWeight  one element, as aclnnNLLLoss gives it
//   out          gradient of self, of its shape
// Codes, after those that all operators share, in this order:
//   161001  a tensor is null
//   161002  weight's, gradOutput's or totalWeight's type is not self's; self's cannot be cast to out's, or is not in the list
//   161002  target's type is not in its list; reduction is not 0, 1 or 2; a shape is another
//           (here success is returned when self is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnNLLLossBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
    const aclTensor* target, const aclTensor* weight, int64_t reduction, int64_t ignoreIndex,
    const aclTensor* totalWeight, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNLLLossBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NLL_LOSS_BACKWARD_H_
