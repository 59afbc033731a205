// aclnnop/aclnn_layer_norm.h: aclnnLayerNorm, rows over the last dims brought to mean 0 and variance 1.
// SPDX-License-Identifier: Apache-2.0
//
// out = (input - mean) * rstd * weight + bias, rstd = 1 / sqrt(variance + eps); mean and variance (not corrected) are those of each
// row of the last dims, whose lengths are normalizedShape. A missing weight is 1, a missing bias 0; eps is rounded to float.
//
// Types: FLOAT, FLOAT16; BF16 on newer products. weight and bias: FLOAT or input's, and the same. out, mean, rstd: any of the list.
#ifndef PORTACL_ACLNNOP_ACLNN_LAYER_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_LAYER_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT. implMode is checked and changes nothing. Where there are
// rows with elements a workspace is asked for, as on an NPU, of a few bytes; phase 2 also takes null and 0.
//   input            tensor
//   normalizedShape  lengths of its last dims
//   weightOptional, biasOptional  of the shape normalizedShape, or null
//   out              result, of input's shape
//   meanOutOptional, rstdOutOptional  input's leading dims, then dims of 1; or null, or empty
// Codes, after those that all operators share, in this order:
//   161001  input, normalizedShape or out is null
//   161002  a type is not in the list or does not go with another; more than 8 dims
//   161002  normalizedShape is empty or not input's last dims; weight, bias or out has another shape; on Ascend 950 mean or rstd
//   161002  implMode is not 0, 1 or 2; it is 2, and input, weight or bias is not FLOAT16
//           (here success is returned when there are no rows; rows without elements have the mean 0 and the rstd NaN)
//   561103  mean or rstd has another shape
// clang-format off
ACLNN_API aclnnStatus aclnnLayerNormGetWorkspaceSize(const aclTensor* input, const aclIntArray* normalizedShape,
    const aclTensor* weightOptional, const aclTensor* biasOptional, double eps, aclTensor* out,
    aclTensor* meanOutOptional, aclTensor* rstdOutOptional, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLayerNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
ACLNN_API aclnnStatus aclnnLayerNormWithImplModeGetWorkspaceSize(const aclTensor* input,
    const aclIntArray* normalizedShape, const aclTensor* weightOptional, const aclTensor* biasOptional, double eps,
    aclTensor* out, aclTensor* meanOutOptional, aclTensor* rstdOutOptional, int32_t implMode, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLayerNormWithImplMode(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LAYER_NORM_H_
