// aclnnop/aclnn_square.h: aclnnSquare, the square of each element.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self * self
//
// Values: one rounding; integers modulo 2^n.
// Types
//   self  FLOAT, FLOAT16, BF16, INT32, INT64 on Ascend 950, nothing on other products.
//   out   self's type.
#ifndef PORTACL_ACLNNOP_ACLNN_SQUARE_H_
#define PORTACL_ACLNNOP_ACLNN_SQUARE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// The format that is refused: storage formats of self and out that differ, or are private.
ACLNN_API aclnnStatus aclnnSquareGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                  uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSquare(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                  aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SQUARE_H_
