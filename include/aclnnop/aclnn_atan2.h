// aclnnop/aclnn_atan2.h: aclnnAtan2 and aclnnInplaceAtan2, the angle of a point.
// SPDX-License-Identifier: Apache-2.0
//
//   out = atan2(self, other), the angle of the point (x = other, y = self), from -pi to pi
//
// Values: C's atan2 for zeros and infinities.
// Types
//   self, other  floats, DOUBLE, integers, BOOL.
//   P            promotion of two tensors; FLOAT where that is an integer, BOOL or undefined.
//   out          any: INT32 gets the angle truncated.
#ifndef PORTACL_ACLNNOP_ACLNN_ATAN2_H_
#define PORTACL_ACLNNOP_ACLNN_ATAN2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  ordinate and abscissa; aclnnInplaceAtan2 does not write other, which CANN declares without const
//   out          result
//   selfRef      ordinate and result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self or other is not in the list
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnAtan2GetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                 aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAtan2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAtan2GetWorkspaceSize(aclTensor* selfRef, aclTensor* other,
                                                        uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAtan2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ATAN2_H_
