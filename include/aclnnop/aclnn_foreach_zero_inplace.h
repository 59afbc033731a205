// aclnnop/aclnn_foreach_zero_inplace.h: aclnnForeachZeroInplace, the tensors of a list filled with zeros.
// SPDX-License-Identifier: Apache-2.0
//
// Every element of x[i] becomes 0.
//
// Types: FLOAT, FLOAT16, BF16, INT16, INT32; on Atlas A2, Atlas A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_ZERO_INPLACE_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_ZERO_INPLACE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   x  tensors of one type, rewritten; they may be empty
// Codes, after those that all operators share, in this order:
//   161001  x or an entry is null
//   161002  the product has no type for it; the type of the first entry is not in the list
//   561002  an entry has another type, more than 8 dims or a private format
//           (here success is returned for an empty list, and where all entries are empty)
//   561103  an entry reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachZeroInplaceGetWorkspaceSize(const aclTensorList* x, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachZeroInplace(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_ZERO_INPLACE_H_
