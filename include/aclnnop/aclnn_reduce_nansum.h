// aclnnop/aclnn_reduce_nansum.h: aclnnReduceNansum, sums over dims of what is not NaN.
// SPDX-License-Identifier: Apache-2.0
//
// out = the sum of self's elements, converted to dtype first, over the dims. NaN counts as 0, infinities stay.
//
// Types: FLOAT, FLOAT16, BF16, integers, BOOL on Atlas A2 and A3; FLOAT, FLOAT16, BF16 on Ascend 950; other products have none.
#ifndef PORTACL_ACLNNOP_ACLNN_REDUCE_NANSUM_H_
#define PORTACL_ACLNNOP_ACLNN_REDUCE_NANSUM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all
//   keepDim  whether reduced dims stay, with length 1
//   dtype    to which elements are converted
//   out      result, of type dtype
// Codes, after those that all operators share, in this order:
//   161001  self, dim or out is null
//   161002  the product has no such operator
//   161002  self's, dtype's or out's type is not in the list; out's is not dtype; self's does not cast to it
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self or out has more than 8 dims
//           (here success is returned when self is empty: out becomes 0)
//   161002  out's shape is not the result's; where that has one element, any shape of one element will do
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnReduceNansumGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepDim,
    aclDataType dtype, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReduceNansum(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REDUCE_NANSUM_H_
