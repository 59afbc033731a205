// aclnnop/aclnn_gelu.h: aclnnGelu, the Gaussian error linear unit, in its form with tanh.
// SPDX-License-Identifier: Apache-2.0
//
//   out = 0.5 self (1 + tanh(sqrt(2 / pi) (self + 0.044715 self^3)))
//
// Values: NaN for -infinity, as in IEEE 754 the formula is; infinity stays. Within 2 units in the last place.
// Types
//   self  floats.
//   out   self's.
#ifndef PORTACL_ACLNNOP_ACLNN_GELU_H_
#define PORTACL_ACLNNOP_ACLNN_GELU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in its list
//   161002  self's or out's format is private
//   161002  out's type is not self's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnGeluGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGelu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GELU_H_
