// aclnnop/aclnn_take.h: aclnnTake, elements of a tensor, seen as one dim.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = self[index[i]], self in row-major order.
//
// Types: arithmetic without BF16, unsigned; BF16 on newer products. index: INT32 or INT64. Workspace: for a self that is not dense.
#ifndef PORTACL_ACLNNOP_ACLNN_TAKE_H_
#define PORTACL_ACLNNOP_ACLNN_TAKE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices: "Indices" in aclnnop/aclnn_index_select.h.
//   self   tensor
//   index  negative ones count from the end
//   out    result, of self's type and index's shape
// Codes, after those that all operators share, in this order:
//   161001  self, index or out is null
//   161002  self's type is not in the list, or out's is not self's; index's is not in its list
//   161002  index has more than 8 dims; out's shape is not index's; self is empty and index is not; a private format
//           (here success is returned when index is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnTakeGetWorkspaceSize(const aclTensor* self, const aclTensor* index, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTake(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TAKE_H_
