// aclnnop/aclnn_lerp_scalar.h: aclnnLerps and aclnnInplaceLerps, linear interpolation with one weight.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self + weight * (end - self)       where weight < 0.5
//         end + (weight - 1) * (end - self)  elsewhere
//
// Values: the weight is used as FLOAT; a NaN weight takes the second form.
// Types
//   self    floats.
//   end     self's type.
//   weight  any.
//   out     floats, DOUBLE, whatever self is.
#ifndef PORTACL_ACLNNOP_ACLNN_LERP_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_LERP_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, end  the values at weight 0 and 1
//   weight     where between them, or beyond; scalar
//   out        result
//   selfRef    value at weight 0, and result
// Codes, after those that all operators share, in this order:
//   161001  self, end, weight or out is null
//   161002  the type of self or out is not in its list, or end's is not self's
//   161002  self and end do not broadcast
//   161002  out's shape is not R
//   161002  more than 8 dimensions: self or end, where not all of them, out included, are dense
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnLerpsGetWorkspaceSize(const aclTensor* self, const aclTensor* end,
                                                 const aclScalar* weight, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLerps(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLerpsGetWorkspaceSize(aclTensor* selfRef, const aclTensor* end,
                                                        const aclScalar* weight, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLerps(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LERP_SCALAR_H_
