// aclnnop/aclnn_abs.h: aclnnAbs, the absolute value of each element.
// SPDX-License-Identifier: Apache-2.0
//
//   out = |self|
//
// Values: a complex number gives its modulus. The smallest integer of a type stays what it is: its opposite modulo 2^n. UINT8
//   and BOOL are copied.
// Types
//   self  floats, DOUBLE, integers, BOOL; COMPLEX64 on newer products, COMPLEX32 on Ascend 950.
//   out   self's type; FLOAT for COMPLEX64, FLOAT16 for COMPLEX32.
#ifndef PORTACL_ACLNNOP_ACLNN_ABS_H_
#define PORTACL_ACLNNOP_ACLNN_ABS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// The format that is refused: storage formats of self and out that differ, or are private.
ACLNN_API aclnnStatus aclnnAbsGetWorkspaceSize(const aclTensor* self, aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAbs(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ABS_H_
