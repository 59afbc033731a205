// aclnnop/aclnn_foreach_copy.h: aclnnForeachCopy, the tensors of a list copied.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = x[i], element by element, bits kept, or converted: FLOAT to FLOAT16 or BF16, and those to FLOAT.
//
// Types: FLOAT, FLOAT16, BF16, DOUBLE, INT8 to INT64, UINT8 to UINT32, BOOL, one for each list; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_COPY_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_COPY_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x    tensors, which may be empty
//   out  copies: as many, of the same shapes
// Codes, after those that all operators share, in this order:
//   161001  x or out is null
//   161002  the product has no type for it; a type is not in the list, or differs from the first entry's; an entry is null,
//           has more than 8 dims or a private format; lists are of different lengths; no such conversion
//   561002  shapes differ (CANN compares no shapes here)
//           (here success is returned for empty lists, and where all entries are empty)
//   561103  a non-contiguous entry of x reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachCopyGetWorkspaceSize(const aclTensorList* x, aclTensorList* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachCopy(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_COPY_H_
