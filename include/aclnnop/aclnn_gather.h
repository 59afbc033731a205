// aclnnop/aclnn_gather.h: aclnnGather, one element along a dim for each element of an index tensor.
// SPDX-License-Identifier: Apache-2.0
//
// out[i][j][k] = self[index[i][j][k]][j][k] for dim 0, and so on.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, unsigned; BF16 on newer products; 8-bit floats on Ascend 950. index: INT32 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_GATHER_H_
#define PORTACL_ACLNNOP_ACLNN_GATHER_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices: "Indices" in aclnnop/aclnn_index_select.h.
//   self   tensor
//   dim    counted from the start or, negative, from the end
//   index  as many dims as self, none longer but for dim. Negative ones count from the end
//   out    result, of self's type and index's shape
// Codes, after those that all operators share, in this order:
//   161001  self, index or out is null
//   161002  self's type is not in the list; index's is not, where it has elements; out's is not self's
//   161002  self and index differ in rank, where no dims count as one; more than 8 dims; out's shape is not index's
//   161002  dim is none of self's; a dim of index is longer than self's; self has no elements along dim, and index has some
//           (here success is returned when index or self is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnGatherGetWorkspaceSize(const aclTensor* self, const int64_t dim, const aclTensor* index,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGather(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GATHER_H_
