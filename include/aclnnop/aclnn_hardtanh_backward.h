// aclnnop/aclnn_hardtanh_backward.h: aclnnHardtanhBackward, the gradient of aclnnHardtanh for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   out = min < self < max ? gradOutput : 0
//
// Values: 0 at the bounds; gradOutput where self is NaN. The bounds are taken as FLOAT.
// Types
//   gradOutput, self  floats, one type.
//   min, max          any; a complex one is 0.
//   out               floats.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDTANH_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_HARDTANH_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   self        operand of the function
//   min, max    bounds, scalars, in any order
//   out         result
// Codes, after those that all operators share, in this order:
//   161001  self, gradOutput, out, min or max is null
//   161002  gradOutput's, self's or out's type is not in its list
//   161002  the types of gradOutput and self differ
//   161002  gradOutput or self has more than 8 dimensions
//   161002  the three shapes are not one
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnHardtanhBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                            const aclTensor* self, const aclScalar* min,
                                                            const aclScalar* max, aclTensor* out,
                                                            uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardtanhBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDTANH_BACKWARD_H_
