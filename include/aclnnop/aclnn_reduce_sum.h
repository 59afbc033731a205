// aclnnop/aclnn_reduce_sum.h: aclnnReduceSum, sums over dims.
// SPDX-License-Identifier: Apache-2.0
//
// out = the sum of self's elements, converted to dtype first, over the dims; BOOL: whether one of them is not 0.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, complex; BF16 on newer products. dtype and out too.
//
// Reductions, what holds for all of them: floating sums and products are float64 in an order that depends on shapes alone, and
// are rounded once, to out's type; integers are computed modulo 2^n. A NaN makes sums, products, the largest and the least NaN.
// Of equal elements the first one's index is given. Any strides are read and written in place. Workspace is asked for by long
// reductions of few results. A tensor without dims counts as one of one element; only dim 0 and -1 are dims of it. Every output
// gets the value for an empty self whatever its shape is.
#ifndef PORTACL_ACLNNOP_ACLNN_REDUCE_SUM_H_
#define PORTACL_ACLNNOP_ACLNN_REDUCE_SUM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self      tensor
//   dims      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all
//   keepDims  whether reduced dims stay, with length 1
//   dtype     to which elements are converted: see "Conversions" in aclnn_util.h
//   out       result, of type dtype
// Codes, after those that all operators share, in this order:
//   161001  self, dims or out is null
//   161002  self's, out's or dtype's type is not in the list, or out's is not dtype; self has more than 8 dims
//   161002  an entry of dims is none of self's dims, or names one twice; out is complex and self is empty
//           (here success is returned when self is empty: out becomes 0)
//   161002  out's shape is not the result's; where that has one element, any shape of one element will do (561103 where self
//           has no dims)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnReduceSumGetWorkspaceSize(const aclTensor* self, const aclIntArray* dims, bool keepDims,
    aclDataType dtype, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReduceSum(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REDUCE_SUM_H_
