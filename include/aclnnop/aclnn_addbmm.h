// aclnnop/aclnn_addbmm.h: aclnnAddbmm, the sum of the products of two batches of matrices and a tensor, and the same in place.
// SPDX-License-Identifier: Apache-2.0
//
// out = beta * self + alpha * sum over b of (batch1[b] @ batch2[b]), "Products of matrices" in aclnnop/aclnn_util.h: terms in
// ascending order of b, then of k, in blocks that end with each b.
// beta and alpha are read as FLOAT. In place, selfRef is self and out.
#ifndef PORTACL_ACLNNOP_ACLNN_ADDBMM_H_
#define PORTACL_ACLNNOP_ACLNN_ADDBMM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    at most two dims, expands to [m, n]; not read where beta is 0
//   batch1  [b, m, k], or [1, m, k] for all b; not read where alpha is 0
//   batch2  [b, k, n], or [1, k, n] for all b; not read where alpha is 0
//   beta    factor of self
//   alpha   factor of the sum
//   out     [m, n]; may be self
// Codes, after those that all operators share, in this order:
//   161001  self, batch1, batch2, beta, alpha or out is null
//   161002  the type of batch1, batch2, self or out is not in the product's list
//   161002  batch1 or batch2 has not three dims; batch2 has not as many rows as batch1 has columns; the batches differ and none is 1
//   161002  one of self and [m, n] is empty, the other is not; self does not expand to [m, n]; out is not [m, n]; batch1 and batch2
//           differ in format; cubeMathType is not accepted
//           (here success is returned when out is empty; without terms, or where alpha is 0, it becomes beta * self, and 0 where beta is 0)
//   561103  a tensor is not dense (a matrix: nor transposed from that) and reaches outside its storage; beta or alpha is no number
// clang-format off
ACLNN_API aclnnStatus aclnnAddbmmGetWorkspaceSize(const aclTensor* self, const aclTensor* batch1, const aclTensor*
    batch2, const aclScalar* beta, const aclScalar* alpha, aclTensor* out, int8_t cubeMathType, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddbmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAddbmmGetWorkspaceSize(aclTensor* selfRef, const aclTensor* batch1, const aclTensor*
    batch2, const aclScalar* beta, const aclScalar* alpha, int8_t cubeMathType, uint64_t* workspaceSize, aclOpExecutor**
    executor);
ACLNN_API aclnnStatus aclnnInplaceAddbmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADDBMM_H_
