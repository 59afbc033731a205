// aclnnop/aclnn_min.h: aclnnMin, the least of all elements.
// SPDX-License-Identifier: Apache-2.0
//
// out = the least element of self, converted to out's type. -0 is less than +0.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL; BF16 on newer products. out: the same, whatever self's is.
#ifndef PORTACL_ACLNNOP_ACLNN_MIN_H_
#define PORTACL_ACLNNOP_ACLNN_MIN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self  tensor
//   out   result, of one element
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's or out's type is not in the list; self or out has more than 8 dims
//           (here success is returned when self or out is empty: nothing is written)
//   161002  out has not one element
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnMinGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor**
    executor);
ACLNN_API aclnnStatus aclnnMin(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MIN_H_
