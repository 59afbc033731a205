// aclnnop/aclnn_foreach_norm.h: aclnnForeachNorm, the norm of each tensor of a list.
// SPDX-License-Identifier: Apache-2.0
//
// With p the scalar, cut to an integer: p = 1 gives the sum of magnitudes; p = +inf, on Ascend 950, the largest magnitude; every
// other p the root of the sum of squares. Sums are float64 ones in a fixed order, rounded once. 0 for an empty tensor.
//
// Types: FLOAT, FLOAT16, BF16; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x       tensors of one type, which may be empty
//   scalar  p: FLOAT, DOUBLE or INT64
//   out     norms: as many tensors of one element, of the same type
// Codes, after those that all operators share, in this order:
//   161001  an argument or an entry is null
//   161002  the product has no type for it; the type of a list's first entry is not in the list, or not that of the other's
//   161002  scalar is of another type
//   561002  an entry has another type, more than 8 dims or a private format; lists are of different lengths
//   561002  a tensor of out has not one element
//           (here success is returned for empty lists)
//   561103  a non-contiguous entry of x reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachNormGetWorkspaceSize(const aclTensorList* x, const aclScalar* scalar,
    const aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_NORM_H_
