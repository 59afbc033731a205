// aclnnop/aclnn_unique.h: aclnnUnique, the distinct elements of a tensor in ascending order, and where each went.
// SPDX-License-Identifier: Apache-2.0
//
// Equal numbers count as one, also 0 and -0; each NaN counts as one of its own, behind all numbers. Of equal elements the first one's bits
// are kept.
//
// Types: real arithmetic, unsigned; BF16 on newer products. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_UNIQUE_H_
#define PORTACL_ACLNNOP_ACLNN_UNIQUE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// The outputs are written densely from their first elements on; what there is no room for is left out. Phase 2 waits for the stream and
// sets valueOut's
// shape to [number of distinct elements] (aclGetViewShape). "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self           tensor
//   sorted         decides nothing: the elements always ascend
//   returnInverse  whether inverseOut is written
//   valueOut       of self's type, with room for as many elements as self has
//   inverseOut     for each element of self its place among those of valueOut, INT64
// Codes, after those that all operators share, in this order:
//   161001  self, valueOut or inverseOut is null
//   161002  self's type is not in the list; inverseOut's is not INT64; self has more than 8 dims; inverseOut, if it is written, has not
//           self's shape
//           (here success is returned when self is empty; shapes stay)
//   561103  valueOut's type is not self's
//   361001  phase 2: called from a function that the stream waits for
// clang-format off
ACLNN_API aclnnStatus aclnnUniqueGetWorkspaceSize(const aclTensor* self, bool sorted, bool returnInverse, aclTensor* valueOut,
    aclTensor* inverseOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUnique(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UNIQUE_H_
