// aclnnop/aclnn_cummax.h: aclnnCummax, the largest elements so far along a dim and where they are.
// SPDX-License-Identifier: Apache-2.0
//
// valuesOut[i] = the largest of self[0] ... self[i] along dim, indicesOut[i] = the index of the last such element. From the
// first NaN on, NaN, and the index of the last one.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products. self and valuesOut independently; indicesOut: INT32,
// INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_CUMMAX_H_
#define PORTACL_ACLNNOP_ACLNN_CUMMAX_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self        tensor
//   dim         counted from the start or, negative, from the end
//   valuesOut   result, of self's shape
//   indicesOut  result, of self's shape
// Codes, after those that all operators share, in this order:
//   161001  self, valuesOut or indicesOut is null
//   161002  dim is none of self's; self has no dims
//   161002  a type is not in its list; self has more than 8 dims; the shape of valuesOut or indicesOut is not self's
//           (here success is returned when self is empty: nothing is written)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnCummaxGetWorkspaceSize(const aclTensor* self, int64_t dim, aclTensor* valuesOut, aclTensor*
    indicesOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCummax(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CUMMAX_H_
