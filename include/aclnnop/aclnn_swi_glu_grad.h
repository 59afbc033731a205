// aclnnop/aclnn_swi_glu_grad.h: aclnnSwiGluGrad, the gradient of aclnnSwiGlu for its x.
// SPDX-License-Identifier: Apache-2.0
//
//   first half of out  = yGrad B s (1 + A (1 - s))
//   second half of out = yGrad A s,   s = 1 / (1 + exp(-A))
//
// Values: A and B are the first and the second half of x along dim. Rounded once. out may not overlap the operands.
// Types
//   x, yGrad, out  Atlas A2, A3 and Ascend 950: FLOAT, FLOAT16, BF16; Atlas inference: FLOAT, FLOAT16. One type.
#ifndef PORTACL_ACLNNOP_ACLNN_SWI_GLU_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_SWI_GLU_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   yGrad  gradient of the result
//   x      operand of the function
//   dim    the dim that is cut, from the end where it is negative
//   out    result
// Codes, after those that all operators share, in this order:
//   161001  yGrad, x or out is null
//   161002  yGrad's type is not in the list
//   161002  the three types are not one
//   561003  there is no kernel for the product
//           (here success is returned when out is empty)
//   561002  x has no dimension, or more than 8
//   561002  dim is none of x's
//   561002  the length of dim is odd
//   561002  yGrad's shape is not that of x, its dim half as long
//   161002  out's shape is not x's
ACLNN_API aclnnStatus aclnnSwiGluGradGetWorkspaceSize(const aclTensor* yGrad, const aclTensor* x, int64_t dim,
                                                      const aclTensor* out, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSwiGluGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SWI_GLU_GRAD_H_
