// aclnnop/aclnn_min_dim.h: aclnnMinDim, the least elements along a dim and where they are.
// SPDX-License-Identifier: Apache-2.0
//
// out = the least element along dim, indices = the index of the first such element; of the first NaN where there is one.
//
// Types: FLOAT, FLOAT16, INT64, BOOL; BF16 on newer products, INT32 on Ascend 950. indices: any type, as a conversion of INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_MIN_DIM_H_
#define PORTACL_ACLNNOP_ACLNN_MIN_DIM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      counted from the start or, negative, from the end
//   keepdim  whether dim stays, with length 1
//   out      result, of self's type
//   indices  result, INT64 or INT32 as documented
// Codes, after those that all operators share, in this order:
//   161001  self, out or indices is null
//   161002  self's type is not in the list, or out's is not self's; self, out or indices has more than 8 dims; dim is none
//           (here success is returned when self is empty: nothing is written)
//   161002  the shape of indices or out is not the result's; where that has one element, any shape of one element will do
//   161001  a type of indices to which no conversion exists; self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnMinDimGetWorkspaceSize(const aclTensor* self, int64_t dim, bool keepdim, aclTensor* out, aclTensor*
    indices, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMinDim(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MIN_DIM_H_
