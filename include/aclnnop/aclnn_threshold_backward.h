// aclnnop/aclnn_threshold_backward.h: aclnnThresholdBackward, the gradient of aclnnThreshold, and of aclnnRelu, for its self.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self <= threshold ? 0 : gradOutput
//
// Values: gradOutput where self is NaN. threshold is taken as FLOAT; up to 2^-23, whatever its sign, it is 0. Integers are
//   exact.
// Types
//   self             floats, INT8, UINT8, INT32; on Ascend 950 also INT64 where the threshold is 0.
//   gradOutput, out  self's.
//   threshold        any; a complex one is 0.
#ifndef PORTACL_ACLNNOP_ACLNN_THRESHOLD_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_THRESHOLD_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   gradOutput  gradient of the result
//   self        operand of the function, or relu's result
//   threshold   scalar
//   out         result, the gradient of self
// Codes, after those that all operators share, in this order:
//   161001  threshold, out, gradOutput or self is null
//   161002  gradOutput's, self's or out's type is not in the list
//   161002  the three types are not one
//   161002  self or gradOutput has more than 8 dimensions
//   161002  self and gradOutput do not broadcast
//   161002  out's shape is not what they broadcast to
//           (here success is returned when self or gradOutput is empty)
ACLNN_API aclnnStatus aclnnThresholdBackwardGetWorkspaceSize(const aclTensor* gradOutput,
                                                             const aclTensor* self,
                                                             const aclScalar* threshold, aclTensor* out,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnThresholdBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_THRESHOLD_BACKWARD_H_
