// aclnnop/aclnn_foreach_erfc.h: aclnnForeachErfc, erfc of the tensors of a list.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = erfc(x[i]), element by element, as aclnnErfc computes it. out may be x.
//
// Types: FLOAT, FLOAT16, BF16; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_ERFC_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_ERFC_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   x    tensors of one type, which may be empty
//   out  results: as many, of the same type and shapes
// Codes, after those that all operators share, in this order:
//   161001  an argument or an entry is null
//   161002  the product has no type for it; the type of a list's first entry is not in the list, or not that of the others'
//   561002  lists are of different lengths; an entry has another type, more than 8 dims, a private format or another shape
//           (here success is returned for an empty list, and where all entries are empty)
//   561103  a non-contiguous input reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachErfcGetWorkspaceSize(const aclTensorList* x, const aclTensorList* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachErfc(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_ERFC_H_
