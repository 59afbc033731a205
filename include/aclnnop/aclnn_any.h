// aclnnop/aclnn_any.h: aclnnAny, whether one of the elements over dims is not 0.
// SPDX-License-Identifier: Apache-2.0
//
// out = whether one element of self over the dims is not 0. NaN is not 0, -0 is. UINT8 gets 0 or 1.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products. out: UINT8, BOOL.
#ifndef PORTACL_ACLNNOP_ACLNN_ANY_H_
#define PORTACL_ACLNNOP_ACLNN_ANY_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all;
//            one may be named twice
//   keepdim  whether reduced dims stay, with length 1
//   out      result
// Codes, after those that all operators share, in this order:
//   161001  self, dim or out is null
//   161002  self's or out's type is not in its list; an entry of dim is none of self's dims; self or out has more than 8 dims
//           (here success is returned when self is empty: out becomes false)
//   161002  out's shape is not the result's; where that has one element, any shape of one element will do
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnAnyGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepdim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAny(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ANY_H_
