// aclnnop/aclnn_unique_consecutive.h: aclnnUniqueConsecutive, runs of equal neighbours, where each part went and how long they are.
// SPDX-License-Identifier: Apache-2.0
//
// Neighbours are the elements of self, flattened, or, with dim, its parts along dim. Equal numbers count as one, also 0 and -0; a NaN
// equals nothing. Of a run the first one's bits are kept.
//
// Types: arithmetic, unsigned; BF16 on newer products. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_UNIQUE_CONSECUTIVE_H_
#define PORTACL_ACLNNOP_ACLNN_UNIQUE_CONSECUTIVE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// The outputs are written densely from their first elements on; what there is no room for is left out. Phase 2 waits for the stream and
// sets the
// shapes of valueOut, to [number of runs] or self's with that number in the place of dim, and of countsOut, if it is written
// (aclGetViewShape). "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self           tensor
//   returnInverse  whether inverseOut is written
//   returnCounts   whether countsOut is written
//   dim            counted from the start or, negative, from the end; 1000: none
//   valueOut       of self's type, with room for as many elements as self has
//   inverseOut     for each element, or part, the number of its run, INT64
//   countsOut      how long each run is, INT64
// Codes, after those that all operators share, in this order:
//   161001  self, valueOut, inverseOut or countsOut is null, also where it is not written
//   161002  self's type is not in the list; inverseOut's or countsOut's is not INT64; valueOut's is not self's; self has more than 8 dims;
//           dim is neither 1000 nor one of them
//           (here success is returned when self is empty; shapes stay)
//   361001  phase 2: called from a function that the stream waits for
// clang-format off
ACLNN_API aclnnStatus aclnnUniqueConsecutiveGetWorkspaceSize(const aclTensor* self, bool returnInverse, bool returnCounts, int64_t
    dim, aclTensor* valueOut, aclTensor* inverseOut, aclTensor* countsOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUniqueConsecutive(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UNIQUE_CONSECUTIVE_H_
