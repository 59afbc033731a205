// aclnnop/aclnn_diag.h: aclnnDiag, a vector as the diagonal of a matrix, or the diagonal of a matrix.
// SPDX-License-Identifier: Apache-2.0
//
// Of a tensor of at most one dim, n elements: a square matrix of side n + |diagonal| with them on that diagonal and 0 elsewhere. Of a
// matrix: its diagonal. diagonal counts columns above the main one.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, COMPLEX64; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_DIAG_H_
#define PORTACL_ACLNNOP_ACLNN_DIAG_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self      at most two dims
//   diagonal  which one
//   out       result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in the list, or out's is not self's; self has more than 2 dims
//           (here success is returned when self is empty and diagonal 0, or a matrix' diagonal lies just outside)
//   161002  a matrix' diagonal lies further outside; self is empty and COMPLEX64
//           (here an out of any shape becomes 0 when self is empty)
//   161002  out's shape is not the result's, be it that both have one element
// clang-format off
ACLNN_API aclnnStatus aclnnDiagGetWorkspaceSize(const aclTensor* self, int64_t diagonal, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDiag(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DIAG_H_
