// aclnnop/aclnn_searchsorted.h: aclnnSearchSorted, where numbers would be inserted into ascending ones.
// SPDX-License-Identifier: Apache-2.0
//
// out = how many elements of the sequence are less than self's, or with right not greater, found by bisection: low = 0, high = N;
// while low < high, mid = low + (high - low) / 2; where the element at mid is at least the number (right: greater), high = mid, else
// low = mid + 1. So NaN gives N, and a sequence that does not ascend gives what this finds.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers. Both are converted to the type P that they promote to. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_SEARCHSORTED_H_
#define PORTACL_ACLNNOP_ACLNN_SEARCHSORTED_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   sortedSequence  one dim; or self's dims, all but the last of the same length: then self's rows have sequences of their own
//   self            numbers
//   outInt32        whether out is INT32, else INT64
//   right           whether places are behind elements that are equal, else before them
//   sorter          may be null; else sortedSequence's shape, INT64: the sequence is read in the order of its indices. A bad index
//                   names something less than every number, and fails the stream ("Indices" in aclnnop/aclnn_index_select.h)
//   out             self's shape
// Codes, after those that all operators share, in this order:
//   161001  sortedSequence, self or out is null
//   161002  a type is not in the list; out's is not INT32 with outInt32, INT64 without; sorter's is not INT64
//   161002  more than 8 dims; out's shape is not self's; sorter's is not sortedSequence's; self is [1] and sortedSequence has not one
//           dim; sortedSequence has no dims; it has more than one, and they are not self's
//   161002  the types do not promote
//           (here an empty tensor makes out 0)
//   561103  an input is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnSearchSortedGetWorkspaceSize(const aclTensor* sortedSequence, const aclTensor* self,
    bool outInt32, bool right, const aclTensor* sorter, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSearchSorted(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

// CANN declares aclnnSearchSorteds here, too.
#include "aclnn_searchsorteds.h"

#endif  // PORTACL_ACLNNOP_ACLNN_SEARCHSORTED_H_
