// aclnnop/aclnn_var_mean.h: aclnnVarMean, variances and means over dims.
// SPDX-License-Identifier: Apache-2.0
//
// varOut = sum((x - mean)^2) / max(0, n - correction) over the dims, n the number of elements that become one: the mean first,
// in float64, then the squares. meanOut = the mean.
//
// Before Ascend 950: Where n is 1 and correction at least 1, varOut is NaN, where correction is greater than 1 and at least n,
// inf.
//
// Types: FLOAT, FLOAT16; BF16 on Ascend 950. Each independently.
#ifndef PORTACL_ACLNNOP_ACLNN_VAR_MEAN_H_
#define PORTACL_ACLNNOP_ACLNN_VAR_MEAN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self        tensor
//   dim         the dims that are reduced, counted from the start or, negative, from the end; an array without values means
//               all; null too
//   correction  any number
//   keepdim     whether reduced dims stay, with length 1
//   varOut      result
//   meanOut     result
// Codes, after those that all operators share, in this order:
//   161001  self, varOut or meanOut is null
//   161002  a type is not in the list
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self has more than 8 dims; the shape of meanOut or varOut is not exactly the result's
//           (here success is returned when self is empty: both become NaN)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnVarMeanGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, int64_t correction, bool
    keepdim, aclTensor* varOut, aclTensor* meanOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnVarMean(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_VAR_MEAN_H_
