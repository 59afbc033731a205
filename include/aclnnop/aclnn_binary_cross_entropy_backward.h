// aclnnop/aclnn_binary_cross_entropy_backward.h: aclnnBinaryCrossEntropyBackward, the gradient of aclnnBinaryCrossEntropy.
// SPDX-License-Identifier: Apache-2.0
//
//   out = (x - t) / max((1 - x) * x, 1e-12) * c * gradOutput * weight       x = self, t = target, weight 1 without
//   c   = 1 / (number of elements of self) for mean, else 1
//
// Numbers: "Losses" in aclnnop/aclnn_util.h.
// Types: each of the product's list ("Losses"). Shapes: target, weight and gradOutput broadcast to self's, which out has. Views and
//   overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the loss;  self  probabilities;  target;  weightOptional  a null pointer for none
//   reduction   0 none, 1 mean, 2 sum
//   out         gradient for self
// With a weight there is a workspace of a FLOAT for each element.
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, target or out is null
//   161002  more than 8 dims;  a type is not in the product's list;  target or weight has another format than self
//   161002  self is not empty, and out has not its shape or another tensor does not broadcast to it;  reduction is not 0, 1 or 2
//           (here success is returned when self is empty)
//   561103  an input that is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnBinaryCrossEntropyBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
    const aclTensor* target, const aclTensor* weightOptional, int64_t reduction, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBinaryCrossEntropyBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_BACKWARD_H_
