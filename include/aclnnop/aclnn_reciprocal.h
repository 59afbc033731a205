// aclnnop/aclnn_reciprocal.h: aclnnReciprocal and aclnnInplaceReciprocal, the reciprocal.
// SPDX-License-Identifier: Apache-2.0
//
//   out = 1 / self
//
// Values: correctly rounded; infinity with the sign of self at +0 and -0.
// Types
//   self     floats, DOUBLE, complex, integers, BOOL. Int as FLOAT.
//   out      in a list: floats, DOUBLE, complex.
//   selfRef  floats, DOUBLE and complex of that list.
#ifndef PORTACL_ACLNNOP_ACLNN_RECIPROCAL_H_
#define PORTACL_ACLNNOP_ACLNN_RECIPROCAL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self     operand
//   out      result
//   selfRef  operand and result
// The format that is refused: storage formats of self and out that differ.
ACLNN_API aclnnStatus aclnnReciprocalGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnReciprocal(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceReciprocalGetWorkspaceSize(const aclTensor* selfRef,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceReciprocal(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RECIPROCAL_H_
