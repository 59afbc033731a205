// aclnnop/aclnn_argsort.h: aclnnArgsort, where the elements along a dim are in order.
// SPDX-License-Identifier: Apache-2.0
//
// The order is aclnnSort's (aclnnop/aclnn_sort.h), which is stable.
//
// Types: FLOAT, FLOAT16, integers; BF16 on newer products; on Ascend 950 unsigned ones, too. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_ARGSORT_H_
#define PORTACL_ACLNNOP_ACLNN_ARGSORT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h, "Ordered along a dim" in aclnnop/aclnn_sort.h.
//   self        tensor; one without dims counts as one element along dim 0
//   dim         counted from the start or, negative, from the end
//   descending  whether the greatest come first
//   out         for each place in order the index along dim in self, INT64
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  dim is none of self's; more than 2^31 - 1 elements along it; not on Ascend 950: one element along it, of BF16
//   161002  self's type is not in the list; out's is not INT64; a private format; more than 8 dims; out's shape is not self's
//           (here success is returned when self is empty)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnArgsortGetWorkspaceSize(const aclTensor* self, int64_t dim, bool descending,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnArgsort(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ARGSORT_H_
