// aclnnop/aclnn_hardswish.h: aclnnHardswish and aclnnInplaceHardswish, the operand times a line between 0 and 1.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self (self + 3) / 6 where -3 < self < 3, self from 3 on, 0 up to -3
//
// Values: each step is rounded. NaN stays.
// Types
//   self, out  floats.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDSWISH_H_
#define PORTACL_ACLNNOP_ACLNN_HARDSWISH_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's or out's type is not in its list
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnHardswishGetWorkspaceSize(const aclTensor* self, const aclTensor* out,
                                                     uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardswish(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                     aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceHardswishGetWorkspaceSize(const aclTensor* self, uint64_t* workspaceSize,
                                                            aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceHardswish(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                            aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDSWISH_H_
