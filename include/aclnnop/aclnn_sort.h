// aclnnop/aclnn_sort.h: aclnnSort, the elements along a dim in order.
// SPDX-License-Identifier: Apache-2.0
//
// Elements that are equal stay in the order that they were in, ascending and descending; -0 equals 0. NaN come last, descending
// first. Each element keeps its bits.
//
// Types: floats with BF16 everywhere, integers, BOOL; on Ascend 950 unsigned ones, too. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_SORT_H_
#define PORTACL_ACLNNOP_ACLNN_SORT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h. "Ordered along a dim", to which other headers refer: rows along dim may
// lie in memory anyhow; valuesOut may be the very view of self, in which case it is sorted in place.
//   self        tensor of any rank; one without dims counts as one element along dim 0
//   stable      decides nothing
//   dim         counted from the start or, negative, from the end
//   descending  whether the greatest come first
//   valuesOut   the elements in order, of a type of self's list or, not on Ascend 950, DOUBLE ("Conversions")
//   indicesOut  for each its index along dim in self, INT64
// Codes, after those that all operators share, in this order:
//   161001  self, valuesOut or indicesOut is null
//   161002  self's type is not in the list; valuesOut's is not; indicesOut's is not INT64
//   161002  dim is none of self's; valuesOut's shape is not self's; indicesOut's is not
//           (here success is returned when self is empty)
//   161001  there is one element along dim, and valuesOut's type is not self's
//   561103  self is not dense and reaches outside its storage; valuesOut is of another type and has more than 8 dims that its strides
//           do not let be taken together
// clang-format off
ACLNN_API aclnnStatus aclnnSortGetWorkspaceSize(const aclTensor* self, bool stable, int64_t dim, bool descending,
    aclTensor* valuesOut, aclTensor* indicesOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSort(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SORT_H_
