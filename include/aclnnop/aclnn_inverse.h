// aclnnop/aclnn_inverse.h: aclnnInverse, inverses of matrices.
// SPDX-License-Identifier: Apache-2.0
//
// out = the inverses of the matrices in self's last two dims, by elimination with the largest element of a column first. FLOAT16 in
// float32. A matrix that has no inverse is no error; its result is infinite or NaN.
//
// Types: FLOAT, FLOAT16, DOUBLE, COMPLEX64, COMPLEX128.
#ifndef PORTACL_ACLNNOP_ACLNN_INVERSE_H_
#define PORTACL_ACLNNOP_ACLNN_INVERSE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self  [..., n, n]
//   out   the same shape, of self's type or one that it casts to
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in the list, or does not cast to out's
//   161002  out's shape is not self's; a rank is not 2 to 8; self is not square
//           (here success is returned when self is empty)
//   561103  self is not dense and reaches outside its storage; out's type is not converted to
// clang-format off
ACLNN_API aclnnStatus aclnnInverseGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInverse(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_INVERSE_H_
