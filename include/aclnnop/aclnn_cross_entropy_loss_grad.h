// aclnnop/aclnn_cross_entropy_loss_grad.h: aclnnCrossEntropyLossGrad, the gradient of aclnnCrossEntropyLoss for its input.
// SPDX-License-Identifier: Apache-2.0
//
//   g[n]       = gradLoss[n] for "none", gradLoss for "sum", gradLoss / (the sum of weight[target[n]]) for "mean";  e = labelSmoothing
//   p[n][c]    = -(1 - e) * weight[c] * g[n] where c is target[n], else 0;  minus e / C * weight[c] * g[n]
//   out[n][c]  = p[n][c] - exp(logProb[n][c]) * (the sum of p[n] over all classes);  0 where target is ignoreIndex
//
// Numbers: "Rows" in aclnnop/aclnn_util.h. Types: those of aclnnCrossEntropyLoss; gradLoss, logProb and out have one.
#ifndef PORTACL_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. Asks for a workspace of two DOUBLE a row.
//   gradLoss                [N] for "none", else one element
//   logProb [N, C], C not 0, as aclnnCrossEntropyLoss gives it;  target [N];  weightOptional [C], a null pointer for ones
//   gradZlossOptional, lseForZlossOptional, lseSquareScaleForZloss   not looked at: there is no Z loss
//   reductionOptional, ignoreIndex, labelSmoothing   as for aclnnCrossEntropyLoss, a target that is no class, too
//   out                     gradient of the input, [N, C]
// Codes, after those that all operators share, in this order:
//   161001  gradLoss, logProb, target or out is null
//   161002  a type is not in the list or does not go with gradLoss's
//   561002  reductionOptional or labelSmoothing has another value;  a shape is another
// clang-format off
ACLNN_API aclnnStatus aclnnCrossEntropyLossGradGetWorkspaceSize(const aclTensor* gradLoss, const aclTensor* logProb,
    const aclTensor* target, const aclTensor* weightOptional, const aclTensor* gradZlossOptional,
    const aclTensor* lseForZlossOptional, char* reductionOptional, int64_t ignoreIndex, double labelSmoothing,
    double lseSquareScaleForZloss, const aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCrossEntropyLossGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_GRAD_H_
