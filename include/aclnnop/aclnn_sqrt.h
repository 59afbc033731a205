// aclnnop/aclnn_sqrt.h: aclnnSqrt and aclnnInplaceSqrt, the square root.
// SPDX-License-Identifier: Apache-2.0
//
//   out = sqrt(self)
//
// Values: correctly rounded; NaN for what is negative, -0 for -0.
// Types
//   self            floats, DOUBLE, complex, integers, BOOL; BF16 on every product but Atlas 910. INT64 is converted to
//                   DOUBLE, other integers and BOOL to FLOAT, before the root.
//   out             any type that self's, or FLOAT for an integer or BOOL, casts to.
//   self, in place  floats, DOUBLE, complex; BF16 on newer products alone.
#ifndef PORTACL_ACLNNOP_ACLNN_SQRT_H_
#define PORTACL_ACLNNOP_ACLNN_SQRT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self  operand; of the in-place form, which CANN names so, result too
//   out   result
ACLNN_API aclnnStatus aclnnSqrtGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSqrt(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceSqrtGetWorkspaceSize(aclTensor* self, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceSqrt(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SQRT_H_
