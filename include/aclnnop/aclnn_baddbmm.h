// aclnnop/aclnn_baddbmm.h: aclnnBaddbmm, the products of two batches of matrices and a tensor, and the same in place.
// SPDX-License-Identifier: Apache-2.0
//
// out[b] = beta * self[b] + alpha * (batch1[b] @ batch2[b]), "Products of matrices" in aclnnop/aclnn_util.h.
//
// beta and alpha are read as FLOAT; what is within 1.2e-7 of 0 or 1 counts as that. In place, selfRef is self and out.
#ifndef PORTACL_ACLNNOP_ACLNN_BADDBMM_H_
#define PORTACL_ACLNNOP_ACLNN_BADDBMM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    at most three dims, expands to [b, m, n]; not read where beta is 0
//   batch1  [b, m, k]
//   batch2  [b, k, n], or [1, k, n] for all b
//   beta    factor of self
//   alpha   factor of the products
//   out     [b, m, n]; may be self
// Codes, after those that all operators share, in this order:
//   161001  self, batch1, batch2, beta, alpha or out is null
//   161002  the type of batch1, batch2, self or out is not in the product's list
//   161002  batch1 or batch2 has not three dims; batch2 has not as many rows as batch1 has columns; the batches differ and none is 1
//   161002  one of self and the products is empty, the other is not; self does not broadcast with batch1's [b, m] and batch2's [n];
//           out has not that shape, or the products have not; batch1, batch2 and out differ in format; cubeMathType is not accepted
//           (here success is returned when out is empty; without terms it becomes beta * self)
//   561103  a tensor is not dense (a matrix: nor transposed from that) and reaches outside its storage; beta or alpha is no number
// clang-format off
ACLNN_API aclnnStatus aclnnBaddbmmGetWorkspaceSize(const aclTensor* self, const aclTensor* batch1, const aclTensor*
    batch2, const aclScalar* beta, const aclScalar* alpha, aclTensor* out, int8_t cubeMathType, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnBaddbmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
ACLNN_API aclnnStatus aclnnInplaceBaddbmmGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* batch1, const
    aclTensor* batch2, const aclScalar* beta, const aclScalar* alpha, int8_t cubeMathType, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceBaddbmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_BADDBMM_H_
