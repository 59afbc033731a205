// aclnnop/aclnn_swi_glu.h: aclnnSwiGlu, one half of a tensor times its logistic function and the other half.
// SPDX-License-Identifier: Apache-2.0
//
//   out = A / (1 + exp(-A)) * B
//
// Values: A and B are the first and the second half of x along dim. Rounded once.
// Types
//   x, out  Atlas A2, A3 and Ascend 950: FLOAT, FLOAT16, BF16; Atlas inference: FLOAT, FLOAT16. One type.
#ifndef PORTACL_ACLNNOP_ACLNN_SWI_GLU_H_
#define PORTACL_ACLNNOP_ACLNN_SWI_GLU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   x    operand
//   dim  the dim that is cut, from the end where it is negative
//   out  result
// Codes, after those that all operators share, in this order:
//   161001  x or out is null
//   161002  x's type is not in its list
//   161002  out's type is not x's
//   561003  there is no kernel for the product
//           (here success is returned when out is empty)
//   561002  x has no dimension
//   561002  dim is none of x's
//   561002  the number of elements from dim on is odd
//   161002  the length of dim is odd
//   161002  out's shape is not that of x, its dim half as long
//   161002  x has more than 8 dimensions
ACLNN_API aclnnStatus aclnnSwiGluGetWorkspaceSize(const aclTensor* x, int64_t dim, const aclTensor* out,
                                                  uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSwiGlu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SWI_GLU_H_
