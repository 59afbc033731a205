// aclnnop/aclnn_logit.h: aclnnLogit, the logarithm of odds, the inverse of the logistic function.
// SPDX-License-Identifier: Apache-2.0
//
// out = log(z / (1 - z)), z = input, for eps >= 0 not below eps and not above 1 - eps. -infinity for 0, infinity for 1, NaN outside of 0 to 1.
//
// Types, on Atlas A2, A3 and Ascend 950 alone: FLOAT, FLOAT16, BF16; both have one.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGIT_H_
#define PORTACL_ACLNNOP_ACLNN_LOGIT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h. The logarithm is float64's; eps and 1 - eps are rounded to FLOAT.
//   input  a tensor of up to 8 dims
//   eps    below 0 for input as it is
//   out    result, of input's shape; may be input
// Codes, after those that all operators share, in this order:
//   161001  input or out is null
//   161002  input's type is not in the list; out's is another
//   561002  more than 8 dims; shapes differ
//           (here success is returned when input is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnLogitGetWorkspaceSize(const aclTensor* input, double eps, const aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogit(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGIT_H_
