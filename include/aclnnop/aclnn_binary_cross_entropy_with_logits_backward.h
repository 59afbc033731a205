// aclnnop/aclnn_binary_cross_entropy_with_logits_backward.h: aclnnBinaryCrossEntropyWithLogitsBackward, the gradient of that loss for self.
// SPDX-License-Identifier: Apache-2.0
//
//   out = ((p * t + 1 - t) / (1 + exp(-x)) - p * t) * c * gradOutput * w       x = self, t = target, p = posWeight
//         (1 / (1 + exp(-x)) - t) * c * gradOutput * w                           without posWeight;  w = weight, 1 without
//   c   = 1 / (number of elements of self) for mean, else 1
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. What is in parentheses is worked out in float64 and rounded to FLOAT.
// Types: each of the product's list ("Losses"), out as target. Shapes: target and out have self's; gradOutput and the weights broadcast
//   to it. Views and overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput         gradient of the loss;  self  logits;  target
//   weightOptional     of losses, posWeightOptional  of targets that are 1;  null pointers for none
//   reduction          0 none, 1 mean, 2 sum
//   out                gradient for self
// With a weight there is a workspace of a FLOAT for each element.
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, target or out is null
//   161002  more than 8 dims;  a type is not in the product's list;  out's is not target's;  target or out has another format than self
//   161002  self is not empty, and target or out has not its shape or another tensor does not broadcast to it
//   161002  reduction is not 0, 1 or 2
//           (here success is returned when self is empty)
//   561103  an input that is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnBinaryCrossEntropyWithLogitsBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
    const aclTensor* target, const aclTensor* weightOptional, const aclTensor* posWeightOptional, int64_t reduction,
    aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBinaryCrossEntropyWithLogitsBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_BACKWARD_H_
