// aclnnop/aclnn_minimum.h: aclnnMinimum, the smaller one of each two elements.
// SPDX-License-Identifier: Apache-2.0
//
//   out = min(self, other)
//
// Values: NaN where either is NaN; -0 is below +0. BOOL is AND.
// Types
//   self, other  floats, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL.
//   P            promotion of two tensors; on Ascend 950 "0-dim as scalar".
//   out          the same list.
#ifndef PORTACL_ACLNNOP_ACLNN_MINIMUM_H_
#define PORTACL_ACLNNOP_ACLNN_MINIMUM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   out          result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self, other or out is not in the list
//   161002  the types of self and other do not promote
//   161002  Ascend 950: P is not in the list, or self's or other's type does not cast to P
//   161002  P does not cast to out's type
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnMinimumGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                   aclTensor* out, uint64_t* workspaceSize,
                                                   aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMinimum(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MINIMUM_H_
