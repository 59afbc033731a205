// aclnnop/aclnn_std_mean_correction.h: aclnnStdMeanCorrection, standard deviations and means over dims.
// SPDX-License-Identifier: Apache-2.0
//
// stdOut^2 = sum((x - mean)^2) / max(0, n - correction) over the dims, n the number of elements that become one: the mean
// first, in float64, then the squares. meanOut = the mean.
//
// Before Ascend 950: Where n is 1 and correction at least 1, stdOut is NaN, where correction is greater than 1 and at least n,
// inf.
//
// Types: FLOAT, FLOAT16; BF16 on newer products. All the same before Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_STD_MEAN_CORRECTION_H_
#define PORTACL_ACLNNOP_ACLNN_STD_MEAN_CORRECTION_H_

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
//   stdOut      result
//   meanOut     result
// Codes, after those that all operators share, in this order:
//   161001  self, stdOut or meanOut is null
//   161002  a type is not in the list, or, before Ascend 950, not self's
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  more than 8 dims; the shape of stdOut or meanOut is not exactly the result's, where dim has values
//           (here success is returned when self is empty: both become NaN)
//   561103  without dims: stdOut or meanOut has not one element and not the result's shape; self is not dense and reaches
//           outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnStdMeanCorrectionGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, int64_t
    correction, bool keepdim, aclTensor* stdOut, aclTensor* meanOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnStdMeanCorrection(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_STD_MEAN_CORRECTION_H_
