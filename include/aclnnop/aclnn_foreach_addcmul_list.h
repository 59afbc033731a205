// aclnnop/aclnn_foreach_addcmul_list.h: aclnnForeachAddcmulList, x1 + scalars * x2 * x3 for lists of tensors.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = x1[i] + scalars[i] * x2[i] * x3[i], element by element. out may be one of the inputs.
// Integers are computed modulo 2^n.
//
// Types: FLOAT, FLOAT16, BF16, INT32; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_ADDCMUL_LIST_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_ADDCMUL_LIST_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   x1, x2, x3  lists of one length, of one type, which may be empty
//   scalars     at most 8 dims, an element for each entry, of their type
//   out         results: as many, of the same type and shapes
// Codes, after those that all operators share, in this order:
//   161001  an argument or an entry is null
//   161002  the product has no type for it; the type of a list's first entry is not in the list, or not that of the others'
//   161002  scalars is of another type (561002: of another shape)
//   561002  lists are of different lengths; an entry has another type, more than 8 dims, a private format or another shape
//           (here success is returned for an empty list, and where all entries are empty)
//   561103  a non-contiguous input reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachAddcmulListGetWorkspaceSize(const aclTensorList* x1, const aclTensorList* x2,
    const aclTensorList* x3, const aclTensor* scalars, const aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachAddcmulList(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_ADDCMUL_LIST_H_
