// aclnnop/aclnn_foreach_div_scalar.h: aclnnForeachDivScalar, x / scalar for lists of tensors.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = x[i] / scalar, element by element. out may be one of the inputs.
//
// Types: FLOAT, FLOAT16, BF16; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_DIV_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_DIV_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   x       tensors of one type, which may be empty
//   scalar  one element, read when phase 2 runs: FLOAT of FLOAT and BF16, FLOAT16 of FLOAT16, INT32 of integers; DOUBLE
//   out     results: as many, of the same type and shapes
// Codes, after those that all operators share, in this order:
//   161001  an argument is null
//   161002  the product has no type for it; a type is not in the list, or differs from the first entry's
//   161002  scalar is of another type (161002: it has not one element)
//   161002  lists are of different lengths; an entry is null, has more than 8 dims, a private format or another shape
//           (here success is returned for an empty list, and where all entries are empty)
//   561103  a non-contiguous input reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachDivScalarGetWorkspaceSize(const aclTensorList* x, const aclTensor* scalar,
    aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachDivScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_DIV_SCALAR_H_
