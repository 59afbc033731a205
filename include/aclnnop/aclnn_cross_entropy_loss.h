// aclnnop/aclnn_cross_entropy_loss.h: aclnnCrossEntropyLoss, the cross entropy of rows of classes and the logarithm of their softmax.
// SPDX-License-Identifier: Apache-2.0
//
//   logProb = (x - m) - log(s), m a row's greatest element, s the sum of exp(x - m)        x = input
//   l[n]    = -weight[target[n]] * logProb[n][target[n]];  0 where target is ignoreIndex
//             with e = labelSmoothing: (1 - e) * l[n] + e / C * (the sum of -weight[c] * logProb[n][c] over all classes c)
//   loss    = l for "none"; the sum of l for "sum", divided by that of weight[target[n]] for "mean"
//
// Numbers: "Rows" in aclnnop/aclnn_util.h; losses are made of logProb as it is before it is rounded to its type.
// Types, on Atlas A2, A3 and Ascend 950 alone: input, lossOut, logProbOut, zlossOut, lseForZlossOut have one of FLOAT, FLOAT16, BF16;
//   target INT32 or INT64; weight FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_H_
#define PORTACL_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. Asks for a workspace of two FLOAT a row.
//   input [N, C], C not 0;  target [N];  weightOptional [C], a null pointer for ones
//   reductionOptional       "none", "mean", "sum"; a null pointer for "mean"
//   labelSmoothing          0 to 1
//   lseSquareScaleForZloss, returnZloss, zlossOut, lseForZlossOut   the Z loss is not computed, as on an NPU: any tensors, not written
//   lossOut                 [N] for "none", else one element: NaN for a mean of no rows, 0 for a sum;  logProbOut  [N, C]
// A target that is neither a class nor ignoreIndex counts as the latter, and the stream fails with 507015 (PORTACL_INDEX_ERRORS).
// Codes, after those that all operators share, in this order:
//   161001  an argument but weightOptional and reductionOptional is null
//   161002  a type is not in the list or does not go with input's
//   561002  reductionOptional or labelSmoothing has another value;  a shape is another
// clang-format off
ACLNN_API aclnnStatus aclnnCrossEntropyLossGetWorkspaceSize(const aclTensor* input, const aclTensor* target,
    const aclTensor* weightOptional, char* reductionOptional, int64_t ignoreIndex, double labelSmoothing,
    double lseSquareScaleForZloss, bool returnZloss, const aclTensor* lossOut, const aclTensor* logProbOut,
    const aclTensor* zlossOut, const aclTensor* lseForZlossOut,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCrossEntropyLoss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CROSS_ENTROPY_LOSS_H_
