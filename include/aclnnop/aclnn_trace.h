// aclnnop/aclnn_trace.h: aclnnTrace, the sum of a matrix's diagonal.
// SPDX-License-Identifier: Apache-2.0
//
// out = the sum of self[i][i].
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, complex; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_TRACE_H_
#define PORTACL_ACLNNOP_ACLNN_TRACE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self  matrix
//   out   result, without dims, of self's type, INT64 for integers and BOOL
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self has not two dims, or out has any; self's type is not in the list, or out's is not the sum's
//           (here success is returned when self is empty: out becomes 0)
//   561103  self is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnTraceGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTrace(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TRACE_H_
