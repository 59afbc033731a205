// aclnnop/aclnn_hardtanh.h: aclnnHardtanh and aclnnInplaceHardtanh, numbers within bounds.
// SPDX-License-Identifier: Apache-2.0
//
//   out = min(max(self, clipValueMin), clipValueMax)
//
// Values: the bounds are converted to self's type first: 2.7 is 2 for INT32. NaN stays.
// Types
//   self, selfRef               floats, DOUBLE, integers.
//   clipValueMin, clipValueMax  the same list; not BOOL.
//   out                         self's.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDTANH_H_
#define PORTACL_ACLNNOP_ACLNN_HARDTANH_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self          operand
//   clipValueMin  lower bound, scalar
//   clipValueMax  upper bound, scalar
//   out           result
//   selfRef       operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, clipValueMin, clipValueMax or out is null
//   161002  self's type is not in its list
//   161002  a bound's type is not in its list
//   161002  clipValueMin is above clipValueMax: as INT64 where clipValueMin is an integer, else as DOUBLE
//   161002  out's type is not self's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnHardtanhGetWorkspaceSize(const aclTensor* self, const aclScalar* clipValueMin,
                                                    const aclScalar* clipValueMax, aclTensor* out,
                                                    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardtanh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceHardtanhGetWorkspaceSize(aclTensor* selfRef, const aclScalar* clipValueMin,
                                                           const aclScalar* clipValueMax,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceHardtanh(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDTANH_H_
