// aclnnop/aclnn_hardsigmoid.h: aclnnHardsigmoid and aclnnInplaceHardsigmoid, a line between 0 and 1.
// SPDX-License-Identifier: Apache-2.0
//
//   out = min(max(self (1 / 6) + 0.5, 0), 1)
//
// Values: 1 / 6 is that of FLOAT, each step is rounded. NaN stays. Of INT32, computed in FLOAT: 1 from 3 on, else 0.
// Types
//   self  floats, INT32.
//   out   self's.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDSIGMOID_H_
#define PORTACL_ACLNNOP_ACLNN_HARDSIGMOID_H_

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
//   161002  self's type is not in its list
//   161002  self's and out's formats differ
//   161002  out's type is not self's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnHardsigmoidGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                       uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardsigmoid(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceHardsigmoidGetWorkspaceSize(const aclTensor* self, uint64_t* workspaceSize,
                                                              aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceHardsigmoid(void* workspace, uint64_t workspaceSize,
                                              aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDSIGMOID_H_
