// aclnnop/aclnn_diag_flat.h: aclnnDiagFlat, the elements of a tensor as the diagonal of a matrix.
// SPDX-License-Identifier: Apache-2.0
//
// The n elements of self in row-major order on a diagonal of a square matrix of side n + |diagonal|, 0 elsewhere, converted to out's
// type, also where no cast of it is allowed elsewhere. diagonal counts columns above the main one.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, COMPLEX64; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_DIAG_FLAT_H_
#define PORTACL_ACLNNOP_ACLNN_DIAG_FLAT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self      tensor
//   diagonal  which one
//   out       matrix
// Codes, after those that all operators share, in this order:
//   561103  self or out is null
//   161002  the type of self or out is not in the list; self has more than 8 dims
//           (here success is returned when self is empty; out is not written)
//   561103  out's shape is not the result's, be it that both have one element
// clang-format off
ACLNN_API aclnnStatus aclnnDiagFlatGetWorkspaceSize(const aclTensor* self, int64_t diagonal, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDiagFlat(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DIAG_FLAT_H_
