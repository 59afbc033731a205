// aclnnop/aclnn_aminmax.h: aclnnAminmax, the least and the largest elements over dims.
// SPDX-License-Identifier: Apache-2.0
//
// minOut, maxOut = the least and the largest of self's elements over the dims. An array without values means no dim here.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AMINMAX_H_
#define PORTACL_ACLNNOP_ACLNN_AMINMAX_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      the dims that are reduced
//   keepDim  whether reduced dims stay, with length 1
//   minOut   result, of self's type
//   maxOut   result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, dim, minOut or maxOut is null
//   161002  self's type is not in the list, minOut's or maxOut's is not self's, or one of them has more than 8 dims
//   161002  self is empty and dim has not one value; the one value is none of self's dims, or one of length 0
//   561103  one of several values is none of self's dims
//           (here success is returned when self is empty: nothing is written)
//   161002  the shape of minOut or maxOut is not the result's; where that has one element, any shape of one element will do
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnAminmaxGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepDim, aclTensor*
    minOut, aclTensor* maxOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAminmax(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AMINMAX_H_
