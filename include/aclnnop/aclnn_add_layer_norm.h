// aclnnop/aclnn_add_layer_norm.h: aclnnAddLayerNorm, aclnnLayerNorm of a sum.
// SPDX-License-Identifier: Apache-2.0
//
// x = x1 + x2 + bias, yOut = (x - mean) * rstd * gamma + beta over the last axes, rstd = 1 / sqrt(variance + epsilon), x the sum before it is
// rounded; xOut = x.
//
// Types: FLOAT, FLOAT16; BF16 from Atlas A2 on; none on Atlas training products and Atlas 200I/500 A2. x1, x2: one, or FLOAT and another one;
// biasOptional, yOut, xOut: theirs, FLOAT where they differ; gamma, beta: that too or FLOAT, on Atlas inference products only that; meanOut,
// rstdOut: FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_ADD_LAYER_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_ADD_LAYER_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT; epsilon is rounded to it.
//   x1, x2            tensors of one shape, of 1 to 8 dims, none of which is 0
//   gamma, beta       of the shape of their last dims;  biasOptional  gamma's shape or x1's, may be null
//   additionalOutput  whether xOut is written
//   yOut, xOut        x1's shape;  meanOut, rstdOut  x1's other dims, after which dims of 1 may follow; not written on Atlas inference products
// Codes, after those that all operators share, in this order:
//   161001  a tensor other than biasOptional is null
//   161002  a type is not in the list or does not go with the others; xOut's is looked at for additionalOutput alone, as its shape is
//   561002  a shape is another
// clang-format off
ACLNN_API aclnnStatus aclnnAddLayerNormGetWorkspaceSize(const aclTensor* x1, const aclTensor* x2, const aclTensor* gamma,
    const aclTensor* beta, const aclTensor* biasOptional, double epsilon, bool additionalOutput, const aclTensor* yOut,
    const aclTensor* meanOut, const aclTensor* rstdOut, const aclTensor* xOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddLayerNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADD_LAYER_NORM_H_
