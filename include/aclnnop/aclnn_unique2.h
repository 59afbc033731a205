// aclnnop/aclnn_unique2.h: aclnnUnique2, the distinct elements of a tensor, where each went and how often it was there.
// SPDX-License-Identifier: Apache-2.0
//
// Equal numbers count as one, also 0 and -0; each NaN counts as one of its own, behind all numbers. Of equal elements the first one's bits
// are kept.
//
// Types: real arithmetic, unsigned; BF16 on newer products. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_UNIQUE2_H_
#define PORTACL_ACLNNOP_ACLNN_UNIQUE2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// The outputs are written densely from their first elements on; what there is no room for is left out. Phase 2 waits for the stream and
// sets the
// shapes of valueOut, and of countsOut if it is written, to [number of distinct elements] (aclGetViewShape). "The two phases" and
// "Movements" in aclnnop/aclnn_util.h.
//   self           tensor
//   sorted         decides nothing: the elements always ascend
//   returnInverse  whether inverseOut is written
//   returnCounts   whether countsOut is written
//   valueOut       of self's type, with room for as many elements as self has
//   inverseOut     for each element of self its place among those of valueOut, INT64
//   countsOut      how often each is there, INT64
// Codes, after those that all operators share, in this order:
//   161001  self, valueOut, inverseOut or countsOut is null, also where it is not written
//   161002  self's type is not in the list; inverseOut's or countsOut's is not INT64; self has more than 8 dims; inverseOut has not self's
//           shape where one of the two is asked for; countsOut has not valueOut's where it is asked for
//           (here success is returned when self is empty; shapes stay)
//   561103  valueOut's type is not self's
//   361001  phase 2: called from a function that the stream waits for
// clang-format off
ACLNN_API aclnnStatus aclnnUnique2GetWorkspaceSize(const aclTensor* self, bool sorted, bool returnInverse, bool returnCounts,
    aclTensor* valueOut, aclTensor* inverseOut, aclTensor* countsOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUnique2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UNIQUE2_H_
