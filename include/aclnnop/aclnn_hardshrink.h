// aclnnop/aclnn_hardshrink.h: aclnnHardshrink, which sets what is near 0 to 0.
// SPDX-License-Identifier: Apache-2.0
//
//   out = |self| <= lambd ? 0 : self
//
// Values: a negative lambd is 0. NaN stays. lambd is taken as FLOAT.
// Types
//   self, out  floats; BF16 on Atlas 200I/500 A2 too.
//   lambd      any; a complex one is 0.
#ifndef PORTACL_ACLNNOP_ACLNN_HARDSHRINK_H_
#define PORTACL_ACLNNOP_ACLNN_HARDSHRINK_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self   operand
//   lambd  scalar
//   out    result
// Codes, after those that all operators share, in this order:
//   161001  self, lambd or out is null
//   161002  self's or out's type is not in the list
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnHardshrinkGetWorkspaceSize(const aclTensor* self, const aclScalar* lambd,
                                                      aclTensor* out, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnHardshrink(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_HARDSHRINK_H_
