// aclnnop/aclnn_silu.h: aclnnSilu, the operand times its logistic function.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self / (1 + exp(-self))
//
// Values: NaN for -infinity, as in IEEE 754 the formula is; infinity stays. Within 2 units in the last place.
// Types
//   self  floats.
//   out   self's.
#ifndef PORTACL_ACLNNOP_ACLNN_SILU_H_
#define PORTACL_ACLNNOP_ACLNN_SILU_H_

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
//   161002  out's type is not self's
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnSiluGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSilu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SILU_H_
