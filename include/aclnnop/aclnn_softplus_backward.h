// aclnnop/aclnn_softplus_backward.h: aclnnSoftplusBackward, the gradient of aclnnSoftplus for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   gradInput = beta self > threshold ? gradOutput : gradOutput / (1 + exp(-beta self))
//
// Values: rounded once. DOUBLE and different types are converted to FLOAT first.
// Types
//   gradOutput, gradInput  floats, DOUBLE.
//   self                   floats, DOUBLE, integers, BOOL.
//   beta, threshold        any; taken as FLOAT, a complex one as 0.
#ifndef PORTACL_ACLNNOP_ACLNN_SOFTPLUS_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_SOFTPLUS_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput       gradient of the result
//   self             operand of the function
//   beta, threshold  scalars
//   gradInput        result
// Codes, after those that all operators share, in this order:
//   161001  gradOutput, self, gradInput, beta or threshold is null
//   161002  gradOutput's, self's or gradInput's type is not in its list
//   161002  one of the three has more than 8 dimensions
//   161002  the three shapes are not one
//           (here success is returned when gradOutput or self is empty)
ACLNN_API aclnnStatus aclnnSoftplusBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                            const aclTensor* self, const aclScalar* beta,
                                                            const aclScalar* threshold, aclTensor* gradInput,
                                                            uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSoftplusBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SOFTPLUS_BACKWARD_H_
