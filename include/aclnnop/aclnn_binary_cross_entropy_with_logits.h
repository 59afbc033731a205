// aclnnop/aclnn_binary_cross_entropy_with_logits.h: aclnnBinaryCrossEntropyWithLogits, the binary cross entropy of logits.
// SPDX-License-Identifier: Apache-2.0
//
//   l   = (1 - t) * x - (1 + (p - 1) * t) * log(1 / (1 + exp(-x)))       x = self, t = target, p = posWeight
//         (1 - t) * x - log(1 / (1 + exp(-x)))                             without posWeight
//   out = l * w                                    reduction "none"; w = weight, 1 without
//         the sum of all of l * w, divided by their number for "mean"
//
// Numbers: "Losses" in aclnnop/aclnn_util.h. l is worked out in float64 and rounded to FLOAT.
// Types: self, target and out each of the product's list ("Losses"), out as target; the weights FLOAT, FLOAT16, BF16, an integer or BOOL.
// Shapes: the weights broadcast to target's. When self is empty, nothing is written for none, NaN for mean, 0 for sum. Views and
//   overlap: "Views" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_
#define PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self               logits;  target  of self's shape
//   weightOptional     of losses, posWeightOptional  of targets that are 1;  null pointers for none
//   reduction          0 none, 1 mean, 2 sum
//   out                for none self's shape, else one element
// With weightOptional there is a workspace of a FLOAT for each element.
// Codes, after those that all operators share, in this order:
//   161001  self, target or out is null
//   161002  the type of self, target or out is not in the product's list; out's is not target's;  reduction is not 0, 1 or 2
//   161002  more than 8 dims;  target's shape is not self's;  target and a weight do not broadcast
//           (here success is returned when self is empty; 561103 where out has not one element then, for mean and sum)
//   161002  out has not self's shape (none)
//   561103  a weight has more dims or elements than target;  out has not one element (mean, sum);  a weight's type is another
//   561103  an input that is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnBinaryCrossEntropyWithLogitsGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
    const aclTensor* weightOptional, const aclTensor* posWeightOptional, int64_t reduction, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBinaryCrossEntropyWithLogits(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BINARY_CROSS_ENTROPY_WITH_LOGITS_H_
