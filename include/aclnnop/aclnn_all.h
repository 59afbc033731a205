// aclnnop/aclnn_all.h: aclnnAll, whether all of the elements over dims are not 0.
// SPDX-License-Identifier: Apache-2.0
//
// out = whether every element of self over the dims is not 0. NaN is not 0, -0 is. UINT8 gets 0 or 1.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products. out: UINT8, BOOL.
#ifndef PORTACL_ACLNNOP_ACLNN_ALL_H_
#define PORTACL_ACLNNOP_ACLNN_ALL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all
//   keepdim  whether reduced dims stay, with length 1
//   out      result
// Codes, after those that all operators share, in this order:
//   161001  self, dim or out is null
//   161002  self's or out's type is not in its list; self has a private format
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self or out has more than 8 dims; out's shape is not exactly the result's
//           (here success is returned when self is empty: out becomes true)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnAllGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepdim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAll(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ALL_H_
