// aclnnop/aclnn_foreach_sub_list_v2.h: aclnnForeachSubListV2, x1 - alpha * x2 for lists of tensors.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = x1[i] - alpha * x2[i], element by element. out may be one of the inputs.
// Integers are computed modulo 2^n.
//
// Types: FLOAT, FLOAT16, BF16, INT32, INT16, INT8, UINT8; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_SUB_LIST_V2_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_SUB_LIST_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   x1, x2  lists of one length, of one type, which may be empty
//   alpha   FLOAT or DOUBLE of FLOAT and BF16; FLOAT16 or DOUBLE of FLOAT16, to which it is rounded; INT32 or INT64 of integers
//   out     results: as many, of the same type and shapes
// Codes, after those that all operators share, in this order:
//   161001  an argument is null
//   161002  the product has no type for it; a type is not in the list, or differs from the first entry's
//   161002  alpha is of a type that does not go with the lists
//   161002  lists are of different lengths; an entry is null, has more than 8 dims, a private format or another shape
//           (here success is returned for an empty list, and where all entries are empty)
//   561103  a non-contiguous input reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachSubListV2GetWorkspaceSize(const aclTensorList* x1, const aclTensorList* x2,
    const aclScalar* alpha, aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachSubListV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_SUB_LIST_V2_H_
