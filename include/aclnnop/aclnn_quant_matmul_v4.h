// aclnnop/aclnn_quant_matmul_v4.h: aclnnQuantMatmulV4, a product of matrices of 8 or 4 bits, scaled by columns and rows.
// SPDX-License-Identifier: Apache-2.0
//
// As aclnn_quant_matmul_v3.h with pertokenScaleOptional null. With it ((x1 @ x2 + bias) * scale) * pertokenScaleOptional for each row of a matrix, plus a bias of another type than INT32.
//
// Types: pertokenScaleOptional FLOAT. With it scale, out, bias are FLOAT or BF16, BF16, INT32, BF16 or FLOAT (not on Atlas inference products); FLOAT, FLOAT16, INT32,
// FLOAT16 or FLOAT (there INT32).
#ifndef PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V4_H_
#define PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V4_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x1, x2, scale, offset, bias, transposeX1, transposeX2, out   as aclnn_quant_matmul_v3.h has them
//   pertokenScaleOptional                                        [m], or null
// Codes: those of aclnn_quant_matmul_v3.h.
// clang-format off
ACLNN_API aclnnStatus aclnnQuantMatmulV4GetWorkspaceSize(const aclTensor* x1, const aclTensor* x2, const aclTensor* scale,
    const aclTensor* offset, const aclTensor* pertokenScaleOptional, const aclTensor* bias, bool transposeX1, bool transposeX2,
    const aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnQuantMatmulV4(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V4_H_
