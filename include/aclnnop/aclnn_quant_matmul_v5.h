// aclnnop/aclnn_quant_matmul_v5.h: aclnnQuantMatmulV5, aclnnQuantMatmulV4 under other names.
// SPDX-License-Identifier: Apache-2.0
//
// Types: as aclnn_quant_matmul_v4.h.
#ifndef PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V5_H_
#define PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V5_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x1, x2, bias, transposeX1, transposeX2, out   as aclnn_quant_matmul_v3.h has them
//   x2Scale, x2Offset                             scale and offset there, of one dim
//   x1Scale                                       [m], or null: pertokenScaleOptional
//   yScale, x1Offset, yOffset                     null, or without elements
//   groupSize                                     0
// Of 4 bits x1 may be transposed, x2 have a batch and any k and n. On Ascend 950 a dim may have any length. An INT8 x2 may have the format
// FRACTAL_NZ_C0_32 too.
// Codes: those of aclnn_quant_matmul_v3.h; after the types
//   161001  yScale, x1Offset or yOffset has elements
// and then
//   161002  groupSize, of 16 bits each for groups of rows, columns and terms from bit 32 on down, is none that a mode of CANN has
//   561103  groupSize is another one than 0: CANN computes products of groups, MX and fp8 besides
// clang-format off
ACLNN_API aclnnStatus aclnnQuantMatmulV5GetWorkspaceSize(const aclTensor* x1, const aclTensor* x2, const aclTensor* x1Scale,
    const aclTensor* x2Scale, const aclTensor* yScale, const aclTensor* x1Offset, const aclTensor* x2Offset,
    const aclTensor* yOffset, const aclTensor* bias, bool transposeX1, bool transposeX2, int64_t groupSize,
    const aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnQuantMatmulV5(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_QUANT_MATMUL_V5_H_
