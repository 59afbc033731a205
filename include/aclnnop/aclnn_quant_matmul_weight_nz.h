// aclnnop/aclnn_quant_matmul_weight_nz.h: aclnnQuantMatmulWeightNz, aclnnQuantMatmulV5 with x2 in the format FRACTAL_NZ.
// SPDX-License-Identifier: Apache-2.0
//
// Elements of x2 lie as its strides say. Types: as aclnn_quant_matmul_v4.h.
#ifndef PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_WEIGHT_NZ_H_
#define PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_WEIGHT_NZ_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x1, x2, bias, transposeX1, transposeX2, out   as aclnn_quant_matmul_v3.h has them
//   x2Scale, x2Offset                             scale and offset there
//   x1Scale                                       [m], or null: pertokenScaleOptional
//   yScale, x1Offset, yOffset                     null, or without elements
//   groupSize                                     0
// Codes: those of aclnn_quant_matmul_v5.h, but its limit of lengths is that of aclnn_quant_matmul_v3.h on every product, and
//   161002  yScale, x1Offset or yOffset has elements; x2 has another format than FRACTAL_NZ
// clang-format off
ACLNN_API aclnnStatus aclnnQuantMatmulWeightNzGetWorkspaceSize(const aclTensor* x1, const aclTensor* x2, const aclTensor* x1Scale,
    const aclTensor* x2Scale, const aclTensor* yScale, const aclTensor* x1Offset, const aclTensor* x2Offset,
    const aclTensor* yOffset, const aclTensor* bias, bool transposeX1, bool transposeX2, int64_t groupSize,
    const aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnQuantMatmulWeightNz(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_WEIGHT_NZ_H_
