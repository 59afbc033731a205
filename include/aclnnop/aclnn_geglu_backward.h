// aclnnop/aclnn_geglu_backward.h: aclnnGeGluBackward and aclnnGeGluV3Backward, the gradients of aclnnGeGlu and aclnnGeGluV3
// for self.
// SPDX-License-Identifier: Apache-2.0
//
//   first half of gradInput  = gradOutput gelu
//   second half of gradInput = gradOutput A gelu'(B);   the other way round where activateLeft, with B gelu'(A)
//
// Values: A and B are the first and the second half of self along dim; gelu is taken as it is given. Rounded once. gradInput
//   may not overlap the operands.
// Types
//   gradOutput, self, gelu, gradInput  floats, one type.
#ifndef PORTACL_ACLNNOP_ACLNN_GEGLU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_GEGLU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput    gradient of out
//   self          operand of the function
//   gelu          outGelu
//   dim           the dim that is cut, from the end where it is negative
//   approximate   0: GELU with erf; 1: that with tanh (aclnnop/aclnn_gelu_v2.h)
//   activateLeft  whether GELU is taken of A; aclnnGeGlu takes it of B
//   gradInput     result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, gelu or gradInput is null
//   161002  gradOutput's type is not in its list
//   161002  the four types are not one
//   161002  gelu's shape is not gradOutput's
//   161002  gradInput's shape is not self's
//   161002  dim is none of self's
//   161002  approximate is neither 0 nor 1
//   161002  self has no dimension
//   161002  the length of dim is odd
//   161002  gradOutput's shape is not that of self, its dim half as long
//           (here success is returned when gradOutput is empty)
ACLNN_API aclnnStatus aclnnGeGluBackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                         const aclTensor* gelu, int64_t dim,
                                                         int64_t approximate, aclTensor* gradInput,
                                                         uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGeGluBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                         aclrtStream stream);
ACLNN_API aclnnStatus aclnnGeGluV3BackwardGetWorkspaceSize(const aclTensor* gradOutput, const aclTensor* self,
                                                           const aclTensor* gelu, int64_t dim,
                                                           int64_t approximate, bool activateLeft,
                                                           aclTensor* gradInput, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGeGluV3Backward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GEGLU_BACKWARD_H_
