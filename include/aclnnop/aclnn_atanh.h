// aclnnop/aclnn_atanh.h: aclnnAtanh and aclnnInplaceAtanh, the inverse hyperbolic tangent.
// SPDX-License-Identifier: Apache-2.0
//
//   out = atanh(input)
//
// Values: infinity with the sign of input at -1 and 1, NaN beyond; -0 at -0.
// Types
//   input     floats, DOUBLE, complex, integers, BOOL. Int as FLOAT.
//   out       in a list: floats, DOUBLE, complex, BF16 everywhere.
//   inputRef  floats, DOUBLE and complex of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_ATANH_H_
#define PORTACL_ACLNNOP_ACLNN_ATANH_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   input     operand
//   out       result
//   inputRef  operand and result
ACLNN_API aclnnStatus aclnnAtanhGetWorkspaceSize(const aclTensor* input, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAtanh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAtanhGetWorkspaceSize(aclTensor* inputRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAtanh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ATANH_H_
