// aclnnop/aclnn_argmax.h: aclnnArgMax, where the largest elements along a dim are.
// SPDX-License-Identifier: Apache-2.0
//
// out = the index of the first of the largest elements along dim; of the first NaN where there is one.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers; BF16 on newer products and Atlas 200I/500 A2, UINT16 on Ascend 950. out: any type,
// as a conversion of INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_ARGMAX_H_
#define PORTACL_ACLNNOP_ACLNN_ARGMAX_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      counted from the start or, negative, from the end
//   keepdim  whether dim stays, with length 1
//   out      result, INT32 or INT64 as documented
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in the list; self or out has more than 8 dims; dim is none of self's
//           (here success is returned when self or out is empty: nothing is written)
//   161002  out's shape is not the result's; where that has one element, any shape of one element will do
//   561103  self is not dense and reaches outside its storage; no conversion to out's type exists
// clang-format off
ACLNN_API aclnnStatus aclnnArgMaxGetWorkspaceSize(const aclTensor* self, int64_t dim, bool keepdim, aclTensor* out, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnArgMax(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ARGMAX_H_
