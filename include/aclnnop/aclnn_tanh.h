// aclnnop/aclnn_tanh.h: aclnnTanh and aclnnInplaceTanh, the hyperbolic tangent.
// SPDX-License-Identifier: Apache-2.0
//
//   out = tanh(self)
//
// Values: -1 and 1 at infinities; -0 at -0.
// Types
//   self     floats, integers, BOOL. Int as FLOAT.
//   out      floats.
//   selfRef  floats.
#ifndef PORTACL_ACLNNOP_ACLNN_TANH_H_
#define PORTACL_ACLNNOP_ACLNN_TANH_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
// The format that is refused: view formats of self and out that differ, or are private.
// Success is returned when self or out is empty.
ACLNN_API aclnnStatus aclnnTanhGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTanh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceTanhGetWorkspaceSize(aclTensor* selfRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceTanh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TANH_H_
