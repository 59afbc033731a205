// aclnnop/aclnn_logsigmoid.h: aclnnLogSigmoid and aclnnLogSigmoidForward, the logarithm of the logistic function.
// SPDX-License-Identifier: Apache-2.0
//
//   out = min(self, 0) - log(1 + exp(-|self|))
//
// Values: rounded once.
// Types
//   self    floats.
//   out     self's.
//   buffer  any.
#ifndef PORTACL_ACLNNOP_ACLNN_LOGSIGMOID_H_
#define PORTACL_ACLNNOP_ACLNN_LOGSIGMOID_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self    operand
//   out     result
//   buffer  neither read nor written nor looked at; may be null
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in its list
//   161002  out's type is not self's
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnLogSigmoidGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogSigmoid(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);
ACLNN_API aclnnStatus aclnnLogSigmoidForwardGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                             aclTensor* buffer, uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLogSigmoidForward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LOGSIGMOID_H_
