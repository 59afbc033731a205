// aclnnop/aclnn_isfinite.h: aclnnIsFinite, whether each element is finite.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self is neither infinite nor NaN
//
// Values: integers and BOOL are finite.
// Types
//   self  floats, DOUBLE, integers, BOOL.
//   out   BOOL.
#ifndef PORTACL_ACLNNOP_ACLNN_ISFINITE_H_
#define PORTACL_ACLNNOP_ACLNN_ISFINITE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases", "Elementwise operators" and "Unary functions", which has the codes, in aclnnop/aclnn_util.h.
//   self  operand
//   out   result
ACLNN_API aclnnStatus aclnnIsFiniteGetWorkspaceSize(const aclTensor* self, aclTensor* out,
                                                    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIsFinite(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ISFINITE_H_
