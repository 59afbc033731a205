// aclnnop/aclnn_glu_backward.h: aclnnGluBackward, the gradient of aclnnGlu for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   first half of out  = gradOut s
//   second half of out = gradOut A s (1 - s),   s = 1 / (1 + exp(-B))
//
// Values: A and B are the first and the second half of self along dim. Rounded once. out may not overlap the operands.
// Types
//   gradOut, self, out  floats, DOUBLE, one type.
#ifndef PORTACL_ACLNNOP_ACLNN_GLU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_GLU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOut  gradient of the result
//   self     operand of the function
//   dim      the dim that is cut, from the end where it is negative
//   out      result
// Codes, after those that all operators share, in this order:
//   161001  self, gradOut or out is null
//   161002  self's type is not in its list
//   161002  the three types are not one
//   161002  one of the three has more than 8 dimensions, or self none
//   161002  dim is none of self's
//   161002  the length of dim is odd
//   161002  gradOut's shape is not that of self, its dim half as long
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnGluBackwardGetWorkspaceSize(const aclTensor* gradOut, const aclTensor* self,
                                                       int64_t dim, const aclTensor* out,
                                                       uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GLU_BACKWARD_H_
