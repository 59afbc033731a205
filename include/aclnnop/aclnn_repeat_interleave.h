// aclnnop/aclnn_repeat_interleave.h: aclnnRepeatInterleaveInt and aclnnRepeatInterleaveIntWithDim, each element several times in place.
// SPDX-License-Identifier: Apache-2.0
//
// Each element of self, flattened, or each index of dim, is there repeats times, one behind the other.
//
// Types: FLOAT, FLOAT16, integers, BOOL; BF16 on newer products; unsigned on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_REPEAT_INTERLEAVE_H_
#define PORTACL_ACLNNOP_ACLNN_REPEAT_INTERLEAVE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self        tensor
//   repeats     at least 0
//   dim         counted from the start or, negative, from the end
//   outputSize  length of the result, or of its dim
//   out         result, of self's type; without dim it has one dim
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  repeats is negative; self has no dims, or dim is none of them; self has more than 8 dims
//           (here success is returned when self is empty, or out; with dim when outputSize is 0)
//   161002  outputSize is not what self and repeats give (CANN believes it)
//   161002  out's shape is not the result's; 561103 where repeats is 1
// clang-format off
ACLNN_API aclnnStatus aclnnRepeatInterleaveIntGetWorkspaceSize(const aclTensor* self, int64_t repeats, int64_t outputSize,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRepeatInterleaveInt(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnRepeatInterleaveIntWithDimGetWorkspaceSize(const aclTensor* self, int64_t repeats, int64_t dim,
    int64_t outputSize, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRepeatInterleaveIntWithDim(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REPEAT_INTERLEAVE_H_
