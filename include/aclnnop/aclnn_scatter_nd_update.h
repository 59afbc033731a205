// aclnnop/aclnn_scatter_nd_update.h: aclnnScatterNdUpdate, the parts of a tensor that rows of indices name are written in place.
// SPDX-License-Identifier: Apache-2.0
//
// varRef[indices[i]] = updates[i], where indices[i] is a row of indices: one for each of the first dims of varRef.
//
// Types: FLOAT, FLOAT16, BOOL; BF16, INT8, INT64 on newer products; INT16, INT32 on Atlas A2 and A3; UINT8 and types of 8 bits on Ascend
// 950. indices: INT32 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_SCATTER_ND_UPDATE_H_
#define PORTACL_ACLNNOP_ACLNN_SCATTER_ND_UPDATE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, and those there twice: aclnnop/aclnn_index_select.h.
//   varRef   tensor, written
//   indices  its last dim is how many dims of varRef are named; 0 to their length - 1 each
//   updates  the shape of indices without its last dim, then varRef's dims that are not named
// Codes, after those that all operators share, in this order:
//   161001  varRef, indices or updates is null
//   161002  varRef's type is not in the list; indices' is not in its own; updates' is not varRef's
//           (here success is returned when one of them is empty)
//   161002  more than 8 dims; more dims are named than varRef has; updates' shape is another one (CANN looks at none of these)
// clang-format off
ACLNN_API aclnnStatus aclnnScatterNdUpdateGetWorkspaceSize(aclTensor* varRef, const aclTensor* indices, const aclTensor* updates,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnScatterNdUpdate(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SCATTER_ND_UPDATE_H_
