// aclnnop/aclnn_gather_v2.h: aclnnGatherV2, the parts of a tensor along a dim that an index tensor of any shape names.
// SPDX-License-Identifier: Apache-2.0
//
// The dims of index take the place of dim.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, complex; BF16 on newer products; UINT16 on Ascend 950. index: INT32 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_GATHER_V2_H_
#define PORTACL_ACLNNOP_ACLNN_GATHER_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices: "Indices" in aclnnop/aclnn_index_select.h.
//   self   tensor
//   dim    counted from the start or, negative, from the end
//   index  negative ones count from the end. Without dims it counts as one dim
//   out    result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, index or out is null
//   161002  out's type is not self's, or is not in the list; index's is not in its list
//   161002  self or index has more than 8 dims; dim is none of self's
//   161002  out's shape is not the result's
//           (here success is returned when self or index is empty)
//   561103  more than 8 dims that cannot be taken together, since operands are not dense
// clang-format off
ACLNN_API aclnnStatus aclnnGatherV2GetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index, aclTensor*
    out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGatherV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GATHER_V2_H_
