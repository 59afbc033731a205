// aclnnop/aclnn_selu.h: aclnnSelu, out = scale (max(0, self) + min(0, alpha (exp(self) - 1))), and in place.
// SPDX-License-Identifier: Apache-2.0
//
// Values: alpha = 1.6732632423543772, scale = 1.0507009873554805; -0 stays. Of floats rounded once. Of INT32 computed in
// float32, of INT8 in float16; what lies behind the point is cut off, and what is too large becomes the largest number.
// Types
//   self, selfRef  floats, INT8, INT32.
//   out            one of these; it gets what self's type holds.
#ifndef PORTACL_ACLNNOP_ACLNN_SELU_H_
#define PORTACL_ACLNNOP_ACLNN_SELU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's or out's type is not in the list
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnSeluGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

// selfRef is operand and result.
ACLNN_API aclnnStatus aclnnInplaceSeluGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceSelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SELU_H_
