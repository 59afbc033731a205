// aclnnop/aclnn_scatter.h: aclnnScatter, aclnnScatterValue and their in-place forms: one element written for each element of an index tensor.
// SPDX-License-Identifier: Apache-2.0
//
// out = self, then out[index[i][j]][j] = src[i][j] for dim 0, and so on; or +=, *=, as reduce says. Negative indices count from the end.
//
// reduce: 0 writes, 1 adds, 2 multiplies, 3 takes the larger, 4 the smaller of the two (NaN wins); 5 gives the mean of self and all
// that it is combined with, of integers rounded down; any other number counts as 0, as in CANN.
// Types: arithmetic; BF16 on newer products. index: INT32 or INT64. Workspace: for FLOAT16 and BF16 that are computed with, and for
// means.
#ifndef PORTACL_ACLNNOP_ACLNN_SCATTER_H_
#define PORTACL_ACLNNOP_ACLNN_SCATTER_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   dim         counted from the start or, negative, from the end
//   index       as many dims as self, none longer than src's, nor, but for dim, than self's
//   src, value  what is written
//   out         result, of self's type and shape
// Codes, after those that all operators share, in this order:
//   161001  self, index, src or value, or out is null
//   161002  value is complex and self is not
//   161002  self's type is not in the list; src's or out's is not self's; index's is not in its list, where it has elements
//           (from here on, with an index without elements, out becomes self)
//   161002  self, index and src differ in rank (on Ascend 950 no dims count as one); out's shape is not self's; index does not fit
//   161002  self has more than 8 dims; dim is none of them
//   561103  an out of one dim less; reduce is 3 or 4 for complex numbers, or 5 for BOOL
// clang-format off
ACLNN_API aclnnStatus aclnnScatterGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index, const
    aclTensor* src, int64_t reduce, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnScatter(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceScatterGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index, const
    aclTensor* src, int64_t reduce, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceScatter(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnScatterValueGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index, const
    aclScalar* value, int64_t reduce, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnScatterValue(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceScatterValueGetWorkspaceSize(aclTensor* selfRef, int64_t dim, const aclTensor* index, const
    aclScalar* value, int64_t reduce, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceScatterValue(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SCATTER_H_
