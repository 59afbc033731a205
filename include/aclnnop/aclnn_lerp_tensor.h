// aclnnop/aclnn_lerp_tensor.h: aclnnLerp and aclnnInplaceLerp, linear interpolation with a tensor of weights.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self + weight * (end - self)       where weight < 0.5
//         end + (weight - 1) * (end - self)  elsewhere
//
// Values: a NaN weight takes the second form.
// Types
//   self              floats.
//   end, weight, out  self's type.
#ifndef PORTACL_ACLNNOP_ACLNN_LERP_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_LERP_TENSOR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, end  the values at weight 0 and 1
//   weight     where between them, or beyond
//   out        result
//   selfRef    value at weight 0, and result
// Codes, after those that all operators share, in this order:
//   161001  self, end, weight or out is null
//   161002  self's type is not in its list, or end's, weight's or out's is another
//   161002  self and end do not broadcast, or weight not with them
//   161002  out's shape is not R
//   161002  more than 8 dimensions: self, end or weight, where not all of them, out included, are dense
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnLerpGetWorkspaceSize(const aclTensor* self, const aclTensor* end,
                                                const aclTensor* weight, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLerp(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLerpGetWorkspaceSize(aclTensor* selfRef, const aclTensor* end,
                                                       const aclTensor* weight, uint64_t* workspaceSize,
                                                       aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLerp(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LERP_TENSOR_H_
