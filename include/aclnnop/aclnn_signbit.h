// aclnnop/aclnn_signbit.h: aclnnSignbit, the sign bit of each element.
// SPDX-License-Identifier: Apache-2.0
//
//   out = whether the sign bit of self is set
//
// Values: -0 and a NaN with a sign count as negative, as PyTorch and Ascend 950 have it; BOOL and what has no sign is false.
// Types
//   self  floats, DOUBLE, integers, unsigned, BOOL.
//   out   in the same list; the BOOL is converted to it.
#ifndef PORTACL_ACLNNOP_ACLNN_SIGNBIT_H_
#define PORTACL_ACLNNOP_ACLNN_SIGNBIT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
// The limit of 8 dimensions holds for out, too.
ACLNN_API aclnnStatus aclnnSignbitGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                   uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSignbit(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SIGNBIT_H_
