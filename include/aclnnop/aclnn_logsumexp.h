// aclnnop/aclnn_logsumexp.h: aclnnLogSumExp, logarithms of sums of exponentials over dims.
// SPDX-License-Identifier: Apache-2.0
//
// out = log(sum(exp(x - m))) + m over the dims, m the largest x there, 0 if that is infinite: -inf only gives -inf, inf gives
// inf.
//
// Types: FLOAT, FLOAT16, integers, BOOL, as FLOAT; BF16 on newer products. out: FLOAT, FLOAT16; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGSUMEXP_H_
#define PORTACL_ACLNNOP_ACLNN_LOGSUMEXP_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all
//   keepDim  whether reduced dims stay, with length 1
//   out      result
// Codes, after those that all operators share, in this order:
//   161001  self, dim or out is null
//   161002  self's or out's type is not in its list, or self's does not cast to out's
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self or out has more than 8 dims; out's shape is not exactly the result's
//           (here success is returned when self is empty: out becomes -inf)
//   161002  self has a private format, on Ascend 950
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnLogSumExpGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepDim, aclTensor*
    out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogSumExp(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGSUMEXP_H_
