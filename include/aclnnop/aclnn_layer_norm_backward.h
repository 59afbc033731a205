// aclnnop/aclnn_layer_norm_backward.h: aclnnLayerNormBackward, the gradients of aclnnLayerNorm.
// SPDX-License-Identifier: Apache-2.0
//
// h = (input - mean) * rstd, g = gradOut * weight, the means of g and g * h those of each row; sums over all rows.
// gradInputOut = rstd * (g - mean(g) - h * mean(g * h)), gradWeightOut = sum(gradOut * h), gradBiasOut = sum(gradOut)
//
// Types: FLOAT, FLOAT16, BF16. gradOut: input's. weight: FLOAT or input's.
#ifndef PORTACL_ACLNNOP_ACLNN_LAYER_NORM_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_LAYER_NORM_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT. Sums over rows ask for workspace.
//   gradOut, input   tensors of one shape
//   normalizedShape  lengths of their last dims
//   mean, rstd       of one shape, with a number for each row, as aclnnLayerNorm gives them
//   weightOptional, biasOptional  of the shape normalizedShape, or null (weight: 1; bias is only checked)
//   outputMask       which of the three gradients are computed; the others may be null
//   gradInputOut     of input's shape;  gradWeightOut, gradBiasOut  with as many elements as a row
// Codes, after those that all operators share, in this order:
//   161001  gradOut, input, normalizedShape, mean, rstd or outputMask is null
//   161002  outputMask has not 3 values
//   161001  a gradient that outputMask names is null
//   161002  a type is not in the list or does not go with another; more than 8 dims
//   161002  normalizedShape is empty or not input's last dims; a shape or a number of elements is another
//           (here success is returned when nothing is asked for or rows have no elements; without rows the sums are 0)
// clang-format off
ACLNN_API aclnnStatus aclnnLayerNormBackwardGetWorkspaceSize(const aclTensor* gradOut, const aclTensor* input,
    const aclIntArray* normalizedShape, const aclTensor* mean, const aclTensor* rstd, const aclTensor* weightOptional,
    const aclTensor* biasOptional, const aclBoolArray* outputMask, aclTensor* gradInputOut, aclTensor* gradWeightOut,
    aclTensor* gradBiasOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLayerNormBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LAYER_NORM_BACKWARD_H_
