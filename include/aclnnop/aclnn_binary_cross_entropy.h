// aclnnop/aclnn_binary_cross_entropy.h: aclnnBinaryCrossEntropy, the binary cross entropy of probabilities.
// SPDX-License-Identifier: Apache-2.0
//
//   l   = -w * (t * max(log(x), -100) + (1 - t) * max(log(1 - x), -100))       x = self, t = target, w = weight, 1 without
//   out = l                                        reduction "none"
//         the sum of all of l, divided by their number for "mean"
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. x outside of 0 to 1 gives NaN.
// Types: each of the product's list ("Losses"); with a weight all of them the same.
// Shapes: weight broadcasts to self's. When self is empty, nothing is written for none, NaN for mean, 0 for sum. Views and
//   overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_H_
#define PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self       probabilities;  target  of self's shape;  weight  a null pointer for none
//   reduction  0 none, 1 mean, 2 sum
//   out        for none self's shape, or one element in any shape where self has one; else one element
// With a weight there is a workspace of a FLOAT for each element.
// Codes, after those that all operators share, in this order:
//   561103  self, target or out is null
//   161002  a type is not in the product's list; with a weight: target's, weight's or out's is not self's
//   161002  target's shape is not self's;  reduction is not 0, 1 or 2;  out's shape is another
//           (here success is returned when self is empty)
//   561103  weight does not broadcast to self's shape; more than 8 dims; an input that is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnBinaryCrossEntropyGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
    const aclTensor* weight, int64_t reduction, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBinaryCrossEntropy(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_H_
