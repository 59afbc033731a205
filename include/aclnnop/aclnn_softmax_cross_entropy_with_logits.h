// aclnnop/aclnn_softmax_cross_entropy_with_logits.h: aclnnSoftmaxCrossEntropyWithLogits, the cross entropy of rows of classes with shares
// of all classes, and its gradient.
// SPDX-License-Identifier: Apache-2.0
//
//   loss[n]     = -sum(labels[n][c] * y[n][c])        y = (x - m) - log(s), m a row's greatest element, s the sum of exp(x - m), x = features
//   backprop    = exp(x - m) / s - labels             the gradient of loss for features where the shares of a row add up to 1
//
// Types of all: FLOAT, FLOAT16; BF16 on newer products. That of labels may be another than features'.
#ifndef PORTACL_ACLNNOP_ACLNN_SOFTMAX_CROSS_ENTROPY_WITH_LOGITS_H_
#define PORTACL_ACLNNOP_ACLNN_SOFTMAX_CROSS_ENTROPY_WITH_LOGITS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   features  [N, C]
//   labels    [N, C]; a dim of 1 is repeated
//   loss      [N];  backprop [N, C], which may be features or labels; where that is one element, any shape of one
// Codes, after those that all operators share, in this order:
//   161001  an argument is null
//   161002  a type is not in the list; that of loss or backprop is not features'; more than 8 dims; features or labels has not 2
//           (here success is returned when features or labels is empty)
//   561103  labels, loss or backprop has another shape
// clang-format off
ACLNN_API aclnnStatus aclnnSoftmaxCrossEntropyWithLogitsGetWorkspaceSize(const aclTensor* features, aclTensor* labels,
    aclTensor* loss, aclTensor* backprop, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSoftmaxCrossEntropyWithLogits(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SOFTMAX_CROSS_ENTROPY_WITH_LOGITS_H_
