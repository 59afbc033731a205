// aclnnop/aclnn_weight_quant_batch_matmul_v2.h: aclnnWeightQuantBatchMatmulV2, a product with weights of 8 or 4 bits.
// SPDX-License-Identifier: Apache-2.0
//
// y = x @ ((weight + offset) * scale) + bias, in FLOAT, by the order of products of matrices, rounded once.
//
// Types: x FLOAT16 or BF16, on Atlas inference products FLOAT16; weight INT8, from Atlas A2 on also INT4, or INT32 of eight INT4 each, the
// lowest bits first, along the dim whose elements lie side by side; scale and offset x's; bias FLOAT16 with x of that, else FLOAT, on
// Ascend 950 BF16 too; y x's. Not on other products. Quantised results, and scales of 64 bits, are CANN's alone.
#ifndef PORTACL_ACLNNOP_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_V2_H_
#define PORTACL_ACLNNOP_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x                        [m, k], contiguous or transposed
//   weight                   [k, n], the same; of INT32 [k, n / 8], transposed [k / 8, n]
//   antiquantScale           [1] or [1, 1]; [n] or [1, n]; with groups [k / antiquantGroupSize rounded up, n]. Contiguous unless weight
//                            is transposed
//   antiquantOffsetOptional  of that shape; null: 0
//   quantScaleOptional, quantOffsetOptional  null
//   biasOptional             [n] or [1, n], or null
//   antiquantGroupSize       terms that share a scale: 0, or a multiple of 32 less than k
//   y                        result [m, n], contiguous
// Codes, after those that all operators share, in this order:
//   361001  the product is none of the above
//   161001  x, weight, antiquantScale or y is null; on Atlas inference products and Ascend 950 quantScale or quantOffset is not
//   161002  a tensor lies otherwise; a type, rank or format is another; lengths differ or are 0, or, on Atlas A2 and A3, k or n (m of a
//           transposed x) is more than 65535; INT4 elements side by side are odd in number; a group size or shape is another
//   561103  quantScale, quantOffset or a scale of 64 bits is given
// clang-format off
ACLNN_API aclnnStatus aclnnWeightQuantBatchMatmulV2GetWorkspaceSize(const aclTensor* x, const aclTensor* weight,
    const aclTensor* antiquantScale, const aclTensor* antiquantOffsetOptional, const aclTensor* quantScaleOptional,
    const aclTensor* quantOffsetOptional, const aclTensor* biasOptional, int antiquantGroupSize, const aclTensor* y,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnWeightQuantBatchMatmulV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_WEIGHT_QUANT_BATCH_MATMUL_V2_H_
