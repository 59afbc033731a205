// aclnnop/aclnn_reduce_log_sum.h: aclnnReduceLogSum, logarithms of sums over dims.
// SPDX-License-Identifier: Apache-2.0
//
// reduce = log(sum of data over the axes): -inf for a sum of 0, NaN for a negative one. Without axes and with
// noopWithEmptyAxes, reduce = data, of which no logarithm is taken.
//
// Types: FLOAT, FLOAT16; BF16 on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_REDUCE_LOG_SUM_H_
#define PORTACL_ACLNNOP_ACLNN_REDUCE_LOG_SUM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   data               tensor
//   axes               the dims that are reduced, counted from the start or, negative, from the end; an array without values
//                      means all
//   keepDims           whether reduced dims stay, with length 1
//   noopWithEmptyAxes  whether an array without values means no dim
//   reduce             result, of data's type
// Codes, after those that all operators share, in this order:
//   161001  data, axes or reduce is null
//   161002  data's or reduce's type is not in the list; data has more than 8 dims; an axis is none of data's dims, or is there
//           twice
//           (here success is returned when data is empty: reduce becomes 0)
//   161002  reduce's shape is not the result's; where that has one element, any shape of one element will do (561103 with noop)
//   561103  reduce's type is not data's; data is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnReduceLogSumGetWorkspaceSize(const aclTensor* data, const aclIntArray* axes, bool keepDims, bool
    noopWithEmptyAxes, aclTensor* reduce, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReduceLogSum(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REDUCE_LOG_SUM_H_
