// aclnnop/aclnn_acos.h: aclnnAcos and aclnnInplaceAcos, the inverse cosine.
// SPDX-License-Identifier: Apache-2.0
//
//   out = acos(input), from 0 to pi
//
// Values: NaN outside [-1, 1].
// Types
//   input     floats, DOUBLE, integers, BOOL. Int as FLOAT.
//   out       in a list: floats, DOUBLE, BF16 everywhere.
//   inputRef  floats and DOUBLE of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_ACOS_H_
#define PORTACL_ACLNNOP_ACLNN_ACOS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   input     operand
//   out       result
//   inputRef  operand and result
ACLNN_API aclnnStatus aclnnAcosGetWorkspaceSize(const aclTensor* input, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAcos(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAcosGetWorkspaceSize(aclTensor* inputRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAcos(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ACOS_H_
