// aclnnop/aclnn_foreach_round_off_number_v2.h: aclnnForeachRoundOffNumberV2, lists of tensors rounded as a mode says.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = x[i], rounded element by element; out may be one of the inputs. roundMode: 1 to nearest, ties to even; 2 down;
// 3 up; 4 to nearest, ties away from 0; 5 toward 0; 6 to the odd one of two neighbours, where x is not an integer; 7 what is
// beyond the integer toward 0, x - trunc(x); else x as it is. Integers stay, but for 7, which gives 0.
//
// Types: FLOAT, FLOAT16, BF16, INT32 on Atlas A2, Atlas A3 and Ascend 950, where the first two also take INT16.
#ifndef PORTACL_ACLNNOP_ACLNN_FOREACH_ROUND_OFF_NUMBER_V2_H_
#define PORTACL_ACLNNOP_ACLNN_FOREACH_ROUND_OFF_NUMBER_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   x          tensors of one type, which may be empty
//   roundMode  INT8, or INT64, of which the low 8 bits count
//   out        results: as many, of the same type and shapes
// Codes, after those that all operators share, in this order:
//   161001  an argument is null
//   161002  the product has no type for it; a type is not in the list, or differs from the first entry's
//   161002  roundMode is of another type
//   161002  lists are of different lengths; an entry is null, has more than 8 dims, a private format or another shape
//           (here success is returned for an empty list, and where all entries are empty)
//   561103  a non-contiguous input reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnForeachRoundOffNumberV2GetWorkspaceSize(const aclTensorList* x, const aclScalar* roundMode,
    aclTensorList* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnForeachRoundOffNumberV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FOREACH_ROUND_OFF_NUMBER_V2_H_
