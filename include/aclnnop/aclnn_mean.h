// aclnnop/aclnn_mean.h: aclnnMean and aclnnMeanV2, means over dims.
// SPDX-License-Identifier: Apache-2.0
//
// out = sum / n over the dims, n the number of elements that become one; of elements converted to dtype first. Where dtype is
// an integer, the sum wraps to it and the quotient is truncated toward zero. aclnnMeanV2 without dims and with
// noopWithEmptyAxes: out = self.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, complex; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_MEAN_H_
#define PORTACL_ACLNNOP_ACLNN_MEAN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self               tensor
//   dim                the dims that are reduced, counted from the start or, negative, from the end; an array without values
//                      means all
//   keepDim            whether reduced dims stay, with length 1
//   dtype              to which elements are converted; aclnnMeanV2: self's
//   noopWithEmptyAxes  whether an array without values means no dim
//   out                result; aclnnMeanV2: of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, dim or out is null
//   161002  self's, dtype's or out's type is not in the list; self's does not cast to dtype, dtype not to out's; aclnnMeanV2:
//           out's is not self's
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self or out has more than 8 dims; out is complex and self is empty
//           (here success is returned when self is empty: out becomes NaN, integers 0)
//   161002  out's shape is not the result's; where that has one element, any shape of one element will do
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnMeanGetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepDim, aclDataType
    dtype, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMean(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnMeanV2GetWorkspaceSize(const aclTensor* self, const aclIntArray* dim, bool keepDim, bool
    noopWithEmptyAxes, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMeanV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MEAN_H_
