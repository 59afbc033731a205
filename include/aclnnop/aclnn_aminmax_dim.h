// aclnnop/aclnn_aminmax_dim.h: aclnnAminmaxDim, the least and the largest elements along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// minOut, maxOut = the least and the largest of self's elements along dim.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AMINMAX_DIM_H_
#define PORTACL_ACLNNOP_ACLNN_AMINMAX_DIM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      counted from the start or, negative, from the end
//   keepDim  whether dim stays, with length 1
//   minOut   result, of self's type
//   maxOut   result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, minOut or maxOut is null
//   161002  self's type is not in the list, minOut's or maxOut's is not self's, or one of them has more than 8 dims
//   161002  dim is none of self's, or has length 0
//           (here success is returned when self is empty: nothing is written)
//   161002  the shape of minOut or maxOut is not the result's; where that has one element, any shape of one element will do
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnAminmaxDimGetWorkspaceSize(const aclTensor* self, const int64_t dim, bool keepDim, aclTensor*
    minOut, aclTensor* maxOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAminmaxDim(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AMINMAX_DIM_H_
