// aclnnop/aclnn_logit_grad.h: aclnnLogitGrad, the gradient of aclnnLogit.
// SPDX-License-Identifier: Apache-2.0
//
// out = dy / (x * (1 - x)), dy * infinity for an x of 0 or 1.
// Outside of eps to 1 - eps it is 0; for eps < 0 it is NaN outside of 0 to 1.
//
// Types, on Atlas A2, A3 and Ascend 950 alone: FLOAT, FLOAT16, BF16; all have one.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGIT_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_LOGIT_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h. Computed in FLOAT; eps and 1 - eps are rounded to it.
//   x    what the logit was computed of, a tensor of up to 8 dims
//   dy   gradient of the result
//   eps  below 0 for x as it is
//   out  gradient of x, of their shape; may be x or dy
// Codes, after those that all operators share, in this order:
//   161001  x, dy or out is null
//   161002  x's type is not in the list; dy's or out's is another
//   561002  more than 8 dims; shapes differ
//           (here success is returned when x is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnLogitGradGetWorkspaceSize(const aclTensor* x, const aclTensor* dy, double eps, const aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogitGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGIT_GRAD_H_
