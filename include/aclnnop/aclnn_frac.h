// aclnnop/aclnn_frac.h: aclnnFrac and aclnnInplaceFrac, the fraction of each element.
// SPDX-License-Identifier: Apache-2.0
//
//   out = input - trunc(input)
//
// Values: exact, with the sign of input; NaN for infinities, 0 for integers.
// Types
//   input     floats, integers.
//   out       input's type.
//   inputRef  input's types, integers included.
#ifndef PORTACL_ACLNNOP_ACLNN_FRAC_H_
#define PORTACL_ACLNNOP_ACLNN_FRAC_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   input     operand
//   out       result
//   inputRef  operand and result
ACLNN_API aclnnStatus aclnnFracGetWorkspaceSize(const aclTensor* input, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFrac(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceFracGetWorkspaceSize(aclTensor* inputRef, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceFrac(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FRAC_H_
