// aclnnop/aclnn_addmv.h: aclnnAddmv, the product of a matrix and a vector, and a tensor.
// SPDX-License-Identifier: Apache-2.0
//
// out = beta * self + alpha * (mat @ vec). The product is computed in P, to which mat's and vec's types promote: of floats "Products of
// matrices" in aclnnop/aclnn_util.h, of DOUBLE the same in float64, of integers modulo 2^n, of BOOL whether both are true anywhere.
// beta * self and alpha * product are of what the factor's type and self's, or P, promote to, their sum of what these promote to: S.
// A factor within 1.2e-7 of 1 is none, and its type does not count.
//
// Types: FLOAT, FLOAT16, BF16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL, of every tensor and factor by itself.
#ifndef PORTACL_ACLNNOP_ACLNN_ADDMV_H_
#define PORTACL_ACLNNOP_ACLNN_ADDMV_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self   [m], [1] or no dims; not read where beta is 0, unless nothing is multiplied
//   mat    [m, k]; not read where alpha is 0
//   vec    [k]; not read where alpha is 0
//   alpha  factor of the product
//   beta   factor of self
//   out    [m]; may be self
// Codes, after those that all operators share, in this order:
//   161001  self, mat, vec, alpha, beta or out is null
//   161002  the type of a tensor or factor is not in the list; S does not cast to out's type
//   161002  self has more than one dim, mat not two, vec or out not one; vec is not as long as mat has columns; self is not as long as mat has
//           rows, nor, unless alpha is 0, has one element; out is not as long as mat has rows
//   161002  cubeMathType is not accepted; a tensor has the format FRACTAL_NZ
//           (here success is returned when self or out is empty; without terms, or where alpha is 0, out becomes beta * self)
//   561103  a tensor is not dense (mat: nor transposed from that) and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnAddmvGetWorkspaceSize(const aclTensor* self, const aclTensor* mat, const aclTensor* vec,
    const aclScalar* alpha, const aclScalar* beta, aclTensor* out, int8_t cubeMathType, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddmv(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADDMV_H_
