// aclnnop/aclnn_amax.h: aclnnAmax, the largest elements over dims.
// SPDX-License-Identifier: Apache-2.0
//
// out = the largest of self's elements over the dims. -0 is less than +0.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_AMAX_H_
#define PORTACL_ACLNNOP_ACLNN_AMAX_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all
//   keepDim  whether reduced dims stay, with length 1
//   out      result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, dim or out is null
//   161002  out's type is not self's, or not in the list
//   161002  an entry of dim is none of self's dims, names one twice, or one of length 0
//   161002  self or out has more than 8 dims; out's shape is not exactly the result's
//           (here success is returned when self is empty: nothing is written)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnAmaxGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepDim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAmax(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_AMAX_H_
