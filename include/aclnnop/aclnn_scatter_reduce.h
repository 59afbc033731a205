// aclnnop/aclnn_scatter_reduce.h: aclnnScatterReduce and its in-place form, elements of a tensor combined with those of another one.
// SPDX-License-Identifier: Apache-2.0
//
// out = self, then element out[index[i][j]][j] for dim 0, and so on, is combined with src[i][j]; without includeSelf an element that is
// named starts from nothing instead of self's. Negative indices count from the end.
//
// reduce: 0 the last one, 1 sum, 2 product, 3 largest, 4 smallest (NaN wins), 5 mean: the sum, divided by how many it is of; of integers
// rounded down.
// Types: arithmetic; FLOAT alone on Atlas A2 and A3; BF16 on Ascend 950. index: INT32 or INT64. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_SCATTER_REDUCE_H_
#define PORTACL_ACLNNOP_ACLNN_SCATTER_REDUCE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   dim    counted from the start or, negative, from the end
//   index  as many dims as self, none longer than src's, nor, but for dim, than self's
//   src    what is combined
//   out    result, of self's type and shape
// Codes, after those that all operators share, in this order:
//   161001  self, index, src or out is null
//   161002  self's type is not in the list; src's or out's is not self's; index's is not in its list, where it has elements
//   161002  reduce is none of these; on Atlas A2 and A3 it is not 1, or includeSelf is false
//           (from here on, with an index without elements, out becomes self)
//   161002  self, index and src differ in rank (on Ascend 950 no dims count as one); out's shape is not self's; index does not fit
//   161002  self has more than 8 dims; dim is none of them
//   561103  an out of one dim less; reduce is 3 or 4 for complex numbers, or 5 for BOOL
// clang-format off
ACLNN_API aclnnStatus aclnnScatterReduceGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index, const aclTensor*
    src, int64_t reduce, bool includeSelf, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnScatterReduce(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceScatterReduceGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index, const
    aclTensor* src, int64_t reduce, bool includeSelf, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceScatterReduce(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SCATTER_REDUCE_H_
