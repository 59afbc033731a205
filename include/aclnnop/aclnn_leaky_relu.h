// aclnnop/aclnn_leaky_relu.h: aclnnLeakyRelu and aclnnInplaceLeakyRelu, whose negative part is a multiple of the operand.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self > 0 ? self : negativeSlope * self
//
// Values: negativeSlope is taken as FLOAT, for DOUBLE too. NaN stays NaN.
// Types
//   self, selfRef  floats, DOUBLE.
//   negativeSlope  any; a complex one is 0.
//   out            any type that self's casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_LEAKY_RELU_H_
#define PORTACL_ACLNNOP_ACLNN_LEAKY_RELU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self           operand
//   negativeSlope  scalar
//   out            result
//   selfRef        operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, negativeSlope or out is null
//   161002  self's type is not in its list
//   161002  self's type does not cast to out's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnLeakyReluGetWorkspaceSize(const aclTensor* self, const aclScalar* negativeSlope,
                                                     aclTensor* out, uint64_t* workspaceSize,
                                                     aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLeakyRelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                     aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLeakyReluGetWorkspaceSize(aclTensor* selfRef,
                                                            const aclScalar* negativeSlope,
                                                            uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLeakyRelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LEAKY_RELU_H_
