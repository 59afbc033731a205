// aclnnop/aclnn_asinh.h: aclnnAsinh and aclnnInplaceAsinh, the inverse hyperbolic sine.
// SPDX-License-Identifier: Apache-2.0
//
//   out = asinh(input)
//
// Values: -0 at -0; infinities stay.
// Types
//   input     floats, DOUBLE, complex, integers, BOOL. Int as FLOAT.
//   out       in a list: floats, DOUBLE, complex, BF16 everywhere.
//   inputRef  floats, DOUBLE and complex of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_ASINH_H_
#define PORTACL_ACLNNOP_ACLNN_ASINH_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   input     operand
//   out       result
//   inputRef  operand and result
// The format that is refused: on Ascend 950, a private storage format of input or out.
ACLNN_API aclnnStatus aclnnAsinhGetWorkspaceSize(const aclTensor* input, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAsinh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAsinhGetWorkspaceSize(aclTensor* inputRef, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAsinh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ASINH_H_
