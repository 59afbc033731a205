// aclnnop/aclnn_is_inf.h: aclnnIsInf, whether each element is infinite.
// SPDX-License-Identifier: Apache-2.0
//
//   out = x is +infinity or -infinity
//
// Types
//   x    floats, on every product with BF16 but Atlas 310P, which has FLOAT and FLOAT16.
//   out  BOOL.
#ifndef PORTACL_ACLNNOP_ACLNN_IS_INF_H_
#define PORTACL_ACLNNOP_ACLNN_IS_INF_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   x    operand
//   out  result
// Codes, after those that all operators share, in this order:
//   161001  x or out is null
//   161002  x's type is not in its list, or out is not BOOL
//   161002  out's shape is not x's
//   561002  x has more than 8 dimensions
//           (here success is returned when x is empty)
ACLNN_API aclnnStatus aclnnIsInfGetWorkspaceSize(const aclTensor* x, aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIsInf(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_IS_INF_H_
