// aclnnop/aclnn_batch_matmul.h: aclnnBatchMatMul, the products of two batches of matrices.
// SPDX-License-Identifier: Apache-2.0
//
// out[b] = self[b] @ mat2[b], "Products of matrices" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_BATCH_MATMUL_H_
#define PORTACL_ACLNNOP_ACLNN_BATCH_MATMUL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    [b, m, k], or [1, m, k] for all b
//   mat2    [b, k, n], or [1, k, n] for all b
//   out     [b, m, n]
// Codes, after those that all operators share, in this order:
//   161001  self, mat2 or out is null
//   161002  the type of self, mat2 or out is not in the product's list; cubeMathType is not accepted
//   161002  self, mat2 or out has not three dims; mat2 has not as many rows as self has columns; the batches differ and none is 1;
//           out is not [b, m, n]
//   161002  self or out has the format FRACTAL_NZ, or mat2 has it with one row or one column
//           (here success is returned when out is empty; without terms it becomes 0)
//   561103  self or mat2 is neither dense nor transposed from that, and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnBatchMatMulGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out,
    int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBatchMatMul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BATCH_MATMUL_H_
