// aclnnop/aclnn_repeat_interleave.h: aclnnRepeatInterleave in its forms, each element several times in place.
// SPDX-License-Identifier: Apache-2.0
//
// Each element of self, flattened, or each index of dim, is there repeats times, one behind the other: as often as the number says, or
// the one element of the tensor, or as the tensor says of each. aclnnRepeatInterleaveTensor gives the numbers of those elements.
//
// Types: FLOAT, FLOAT16, integers, BOOL; BF16 on newer products; unsigned on Ascend 950. A tensor of repeats: INT32 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_REPEAT_INTERLEAVE_H_
#define PORTACL_ACLNNOP_ACLNN_REPEAT_INTERLEAVE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self        tensor
//   repeats     at least 0; a tensor has at most one dim, and one element or as many as are repeated. What is negative, or does not add
//               up to outputSize, fails the stream (507015) as a bad index does; nothing is written outside out
//   dim         counted from the start or, negative, from the end
//   outputSize  length of the result, or of its dim
//   out         result, of self's type (aclnnRepeatInterleaveTensor: of repeats'); without dim it has one dim
// The forms with a tensor take a workspace. Codes, after those that all operators share, in this order:
//   161001  self, a tensor of repeats or out is null
//   161002  with a tensor: self's type is not in the list, repeats' is not in its own, or out's is not self's; repeats has more dims, or
//           another number of elements than it may; aclnnRepeatInterleaveTensor: repeats has not one dim
//   161002  self's type is not in the list, or out's is not self's
//   161002  repeats is negative; self has no dims, or dim is none of them; self has more than 8 dims
//           (here success is returned when self is empty, or out; with dim when outputSize is 0)
//   161002  outputSize is not what self and a number of repeats give (CANN believes it)
//   161002  out's shape is not the result's; 561103 where repeats is 1
// clang-format off
ACLNN_API aclnnStatus aclnnRepeatInterleaveGetWorkspaceSize(const aclTensor* self, const aclTensor* repeats, int64_t outputSize,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRepeatInterleave(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnRepeatInterleaveWithDimGetWorkspaceSize(const aclTensor* self, const aclTensor* repeats, int64_t dim,
    int64_t outputSize, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRepeatInterleaveWithDim(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnRepeatInterleaveTensorGetWorkspaceSize(const aclTensor* repeats, int64_t outputSize, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRepeatInterleaveTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
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
