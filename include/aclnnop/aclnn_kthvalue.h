// aclnnop/aclnn_kthvalue.h: aclnnKthvalue, the k-th least element along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// It is number k, counted from 1, of aclnnSort's ascending order (aclnnop/aclnn_sort.h): NaN counts as greater than all numbers.
//
// Types: FLOAT, FLOAT16, integers; BF16 on newer products; on Ascend 950 unsigned ones, too. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_KTHVALUE_H_
#define PORTACL_ACLNNOP_ACLNN_KTHVALUE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h, "Ordered along a dim" in aclnnop/aclnn_sort.h.
//   self        tensor; one without dims counts as one element along dim 0
//   k           1 to the number of elements along dim
//   dim         counted from the start or, negative, from the end
//   keepdim     whether the outputs have one element along dim; else they are without it
//   valuesOut   the element, of self's type; any shape of one element where there is one
//   indicesOut  its index along dim in self, INT64
// Codes, after those that all operators share, in this order:
//   161001  self, valuesOut or indicesOut is null
//   161002  dim is none of self's; k is less than 1 or more than there are along dim
//   161002  self's type is not in the list; valuesOut's is not self's; indicesOut's is not INT64; self has more than 8 dims
//           (here success is returned when self is empty)
//   161002  valuesOut or indicesOut has another shape
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnKthvalueGetWorkspaceSize(const aclTensor* self, int64_t k, int64_t dim, bool keepdim,
    aclTensor* valuesOut, aclTensor* indicesOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnKthvalue(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_KTHVALUE_H_
