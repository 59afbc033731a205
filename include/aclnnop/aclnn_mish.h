// aclnnop/aclnn_mish.h: aclnnMish and aclnnInplaceMish, the operand times tanh of its softplus.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self tanh(log(1 + exp(self)))
//
// Values: rounded once; NaN for -infinity.
// Types
//   self, selfRef  floats.
//   out            self's.
#ifndef PORTACL_ACLNNOP_ACLNN_MISH_H_
#define PORTACL_ACLNNOP_ACLNN_MISH_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in its list
//   161002  out's type is not self's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnMishGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMish(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceMishGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceMish(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MISH_H_
