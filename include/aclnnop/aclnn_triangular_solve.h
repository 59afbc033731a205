// aclnnop/aclnn_triangular_solve.h: aclnnTriangularSolve, solutions of triangular systems.
// SPDX-License-Identifier: Apache-2.0
//
// xOut = X of A X = self; with transpose of A^H X = self, A conjugated and transposed. One triangle of A is read, with unitriangular
// without its diagonal, which counts as ones. mOut = A. What is divided by zero is infinite or NaN.
//
// Types: FLOAT, DOUBLE, COMPLEX64, COMPLEX128.
#ifndef PORTACL_ACLNNOP_ACLNN_TRIANGULAR_SOLVE_H_
#define PORTACL_ACLNNOP_ACLNN_TRIANGULAR_SOLVE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self           right sides [..., n, m]
//   A              matrices [..., n, n]; dims before the last two broadcast
//   upper          whether the triangle above the diagonal is read, else the one below it
//   unitriangular  of FLOAT alone
//   xOut           solutions [..., n, m]
//   mOut           null, or a copy of A, [..., n, n]
// Codes, after those that all operators share, in this order:
//   561103  self, A or xOut is null
//   161002  a type is not in the list, or not self's
//   161002  a rank is not 2 to 8; A is not square, has not as many rows as self, or does not broadcast; a result's shape is another
//   161002  unitriangular with another type than FLOAT
//           (here success is returned when self or A is empty)
//   561103  self or A is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnTriangularSolveGetWorkspaceSize(const aclTensor* self, const aclTensor* A, bool upper,
    bool transpose, bool unitriangular, aclTensor* xOut, aclTensor* mOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTriangularSolve(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TRIANGULAR_SOLVE_H_
