// aclnnop/aclnn_median.h: aclnnMedian, aclnnMedianDim, aclnnNanMedian and aclnnNanMedianDim, the element in the middle of the order.
// SPDX-License-Identifier: Apache-2.0
//
// Of n elements it is number (n - 1) / 2 of aclnnSort's ascending order (aclnnop/aclnn_sort.h), counted from 0: of an even number
// the lower of the two in the middle, of equal ones the one that is there by their order. Median: where there is a NaN, the first
// one. NanMedian: NaN are left out; where there is nothing else, the first one.
//
// Types: FLOAT, FLOAT16, integers; BF16 on newer products. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_MEDIAN_H_
#define PORTACL_ACLNNOP_ACLNN_MEDIAN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h, "Ordered along a dim" in aclnnop/aclnn_sort.h.
//   self        tensor; without dim all of its elements count, in row-major order
//   dim         counted from the start or, negative, from the end
//   keepDim     whether the outputs have one element along dim; else they are without it
//   valuesOut   the median, of self's type; without dim: any tensor of one element. aclnnNanMedian calls it out
//   indicesOut  its index along dim in self, INT64
// Codes, after those that all operators share, in this order:
//   161001  self, valuesOut or indicesOut is null
//   161002  self's type is not in the list; valuesOut's is not; they differ; indicesOut's is not INT64
//   161002  dim is none of self's; more than 8 dims; valuesOut or indicesOut has another number of dims
//   161002  BF16 with one element along dim or, without it, along the last one
//   161002  aclnnNanMedianDim: self has no elements along dim
//           (here success is returned when an output or, with dim, self is empty; without dim an empty self makes out NaN, the least
//           INT32 or INT64, or 0 of the narrower integers)
//   161002  valuesOut or indicesOut has another shape, but for one of one element where there is one
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnMedianGetWorkspaceSize(const aclTensor* self, aclTensor* valuesOut,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMedian(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnMedianDimGetWorkspaceSize(const aclTensor* self, int64_t dim, bool keepDim,
    aclTensor* valuesOut, aclTensor* indicesOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMedianDim(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnNanMedianGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNanMedian(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnNanMedianDimGetWorkspaceSize(const aclTensor* self, int64_t dim, bool keepDim,
    aclTensor* valuesOut, aclTensor* indicesOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNanMedianDim(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MEDIAN_H_
