// aclnnop/aclnn_topk.h: aclnnTopk, the k greatest or least elements along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// They are the first k of aclnnSort's order (aclnnop/aclnn_sort.h): of equal elements those with lower indices, and NaN counts as
// greater than all numbers.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers; BF16 on newer products; on Ascend 950 unsigned ones, too. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_TOPK_H_
#define PORTACL_ACLNNOP_ACLNN_TOPK_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h, "Ordered along a dim" in aclnnop/aclnn_sort.h.
//   self        tensor; one without dims counts as one element along dim 0
//   k           how many
//   dim         counted from the start or, negative, from the end
//   largest     whether the greatest are wanted, greatest first, else the least, least first
//   sorted      decides nothing: they always are
//   valuesOut   the elements, of self's type and shape, but k along dim; any shape of one element where there is one
//   indicesOut  for each its index along dim in self, INT64, of the same shape
// Codes, after those that all operators share, in this order:
//   161001  self, valuesOut or indicesOut is null
//   161002  dim is none of self's; k is negative or more than there are along dim
//   161002  self's type is not in the list; valuesOut's is not self's; indicesOut's is not INT64; self has more than 8 dims
//           (here success is returned when self, valuesOut or indicesOut is empty)
//   161002  valuesOut or indicesOut has another shape
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnTopkGetWorkspaceSize(const aclTensor* self, int64_t k, int64_t dim, bool largest,
    bool sorted, aclTensor* valuesOut, aclTensor* indicesOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTopk(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TOPK_H_
