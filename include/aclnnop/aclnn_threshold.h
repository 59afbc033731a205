// aclnnop/aclnn_threshold.h: aclnnThreshold and aclnnInplaceThreshold, which replace what is not above a threshold.
// SPDX-License-Identifier: Apache-2.0
//
//   out = value where self <= threshold, else self
//
// Values: NaN stays NaN. Both scalars are converted to self's type first ("Conversions" in aclnnop/aclnn_util.h): 0.5 is 0
//   for INT32. Integers are exact.
// Types
//   self              floats, integers.
//   threshold, value  any.
//   out               a type that self's casts to; on Ascend 950 any.
#ifndef PORTACL_ACLNNOP_ACLNN_THRESHOLD_H_
#define PORTACL_ACLNNOP_ACLNN_THRESHOLD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self       operand
//   threshold  scalar
//   value      what takes the place, scalar
//   out        result
//   selfRef    operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, out, threshold or value is null
//   161002  self's type is not in its list
//   161002  self's type does not cast to out's, not on Ascend 950
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnThresholdGetWorkspaceSize(const aclTensor* self, const aclScalar* threshold,
                                                     const aclScalar* value, aclTensor* out,
                                                     uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnThreshold(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                     aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceThresholdGetWorkspaceSize(aclTensor* selfRef, const aclScalar* threshold,
                                                            const aclScalar* value, uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceThreshold(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_THRESHOLD_H_
