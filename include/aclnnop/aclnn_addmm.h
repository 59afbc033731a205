// aclnnop/aclnn_addmm.h: aclnnAddmm, the product of two matrices and a tensor, and the same in place.
// SPDX-License-Identifier: Apache-2.0
//
// out = beta * self + alpha * (mat1 @ mat2), "Products of matrices" in aclnnop/aclnn_util.h.
//
// beta and alpha are read as FLOAT; what is within 1.2e-7 of 0 or 1 counts as that. In place, selfRef is self and out.
#ifndef PORTACL_ACLNNOP_ACLNN_ADDMM_H_
#define PORTACL_ACLNNOP_ACLNN_ADDMM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    at most two dims, expands to [m, n]; not read where beta is 0, unless nothing is multiplied
//   mat1    [m, k]; not read where alpha is 0
//   mat2    [k, n]; not read where alpha is 0; one of format FRACTAL_NZ lies as its strides say
//   beta    factor of self
//   alpha   factor of the product
//   out     [m, n]; may be self. Empty, where m or n is 0
// Codes, after those that all operators share, in this order:
//   161001  self, mat1, mat2, beta, alpha or out is null
//   161002  the type of mat1, mat2, self or out is not in the product's list
//   161002  mat1 or mat2 has not two dims; mat2 has not as many rows as mat1 has columns; self has the format FRACTAL_NZ or does not
//           expand to [m, n]; out is not [m, n]; cubeMathType is not accepted
//           (here success is returned when out is empty; without terms, or where alpha is 0, it becomes beta * self)
//   561103  a tensor is not dense (a matrix: nor transposed from that) and reaches outside its storage; beta or alpha is no number
// clang-format off
ACLNN_API aclnnStatus aclnnAddmmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat1, const aclTensor* mat2,
    const aclScalar* beta, const aclScalar* alpha, aclTensor* out, int8_t cubeMathType, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAddmmGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* mat1, const
    aclTensor* mat2, const aclScalar* beta, const aclScalar* alpha, int8_t cubeMathType, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAddmm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream
    stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADDMM_H_
