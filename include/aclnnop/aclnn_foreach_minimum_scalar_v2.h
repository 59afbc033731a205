// aclnnop/aclnn_foreach_minimum_scalar_v2.h: aclnnForeachMinimumScalarV2, the lesser of x and scalar for lists of tensors.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = the lesser of x[i] and scalar, element by element. out may be one of the inputs.
// Integers are computed modulo 2^n.
//
// Types: FLOAT, FLOAT16, BF16, INT32; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_MINIMUM_SCALAR_V2_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_MINIMUM_SCALAR_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   x       tensors of one type, which may be empty
//   scalar  FLOAT or DOUBLE of FLOAT and BF16; FLOAT16 or DOUBLE of FLOAT16, to which it is rounded; INT32 or INT64 of integers
//   out     results: as many, of the same type and shapes
// Codes, after those that all operators share, in this order:
//   161001  an argument is null
//   161002  the product has no type for it; a type is not in the list, or differs from the first entry's
//   161002  scalar is of a type that does not go with the lists; last, its value is not in the range of their type
//   161002  lists are of different lengths; an entry is null, has more than 8 dims, a private format or another shape
//           (here success is returned for an empty list, and where all entries are empty)
//   561103  a non-contiguous input reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachMinimumScalarV2GetWorkspaceSize(const aclTensorList* x, const aclScalar* scalar,
    aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachMinimumScalarV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_MINIMUM_SCALAR_V2_H_
