// aclnnop/aclnn_atan.h: aclnnAtan and aclnnInplaceAtan, the inverse tangent.
// SPDX-License-Identifier: Apache-2.0
//
//   out = atan(input), from -pi/2 to pi/2
//
// Values: the bounds at infinities; -0 at -0.
// Types
//   input     floats, DOUBLE, integers, BOOL. Int as FLOAT.
//   out       in a list: floats, DOUBLE, BF16 everywhere.
//   inputRef  floats and DOUBLE of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_ATAN_H_
#define PORTACL_ACLNNOP_ACLNN_ATAN_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   input     operand
//   out       result
//   inputRef  operand and result
ACLNN_API aclnnStatus aclnnAtanGetWorkspaceSize(const aclTensor* input, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAtan(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAtanGetWorkspaceSize(aclTensor* inputRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAtan(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ATAN_H_
