// aclnnop/aclnn_searchsorteds.h: aclnnSearchSorteds, where one number would be inserted into ascending ones.
// SPDX-License-Identifier: Apache-2.0
//
// The search is that of aclnnSearchSorted (aclnnop/aclnn_searchsorted.h).
//
// Types: FLOAT, FLOAT16, DOUBLE, integers. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_SEARCHSORTEDS_H_
#define PORTACL_ACLNNOP_ACLNN_SEARCHSORTEDS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   sortedSequence  one dim
//   self            number: it is rounded to FLOAT, and then converted to sortedSequence's type
//   outInt32        whether out is INT32, else INT64
//   right           whether the place is behind elements that are equal, else before them
//   sorter          may be null, as of aclnnSearchSorted
//   out             any tensor with elements. Its shape becomes [1] when phase 1 succeeds
// Codes, after those that all operators share, in this order:
//   161001  sortedSequence, self or out is null
//   161002  out is empty
//   161002  sortedSequence's type is not in the list; out's is not INT32 with outInt32, INT64 without; sorter's is not INT64
//   161002  sorter's shape is not sortedSequence's; sortedSequence has not one dim
//           (here an empty sortedSequence makes out 0)
//   561103  self is of a type that does not convert; an input is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnSearchSortedsGetWorkspaceSize(const aclTensor* sortedSequence, const aclScalar* self,
    const bool outInt32, const bool right, const aclTensor* sorter, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSearchSorteds(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SEARCHSORTEDS_H_
