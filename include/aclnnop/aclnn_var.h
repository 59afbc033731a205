// aclnnop/aclnn_var.h: aclnnVar and aclnnVarCorrection, variances over dims.
// SPDX-License-Identifier: Apache-2.0
//
// out = sum((x - mean)^2) / max(0, n - correction) over the dims, n the number of elements that become one: the mean first, in
// float64, then the squares. aclnnVar's correction is 1 if it is unbiased, else 0.
//
// aclnnVarCorrection: Where n is 1 and correction at least 1, out is NaN, where correction is greater than 1 and at least n,
// inf.
//
// Types: FLOAT, FLOAT16; BF16 on newer products. self and out independently.
#ifndef PORTACL_ACLNNOP_ACLNN_VAR_H_
#define PORTACL_ACLNNOP_ACLNN_VAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self        tensor
//   dim         the dims that are reduced, counted from the start or, negative, from the end; an array without values means
//               all; null too
//   unbiased    see above
//   correction  any number
//   keepdim     whether reduced dims stay, with length 1
//   out         result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's or out's type is not in the list
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self has more than 8 dims; out's shape is not exactly the result's
//           (here success is returned when self is empty: out becomes NaN)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnVarGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool unbiased, bool keepdim,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnVar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnVarCorrectionGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, int64_t correction,
    bool keepdim, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnVarCorrection(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_VAR_H_
