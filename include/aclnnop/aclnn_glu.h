// aclnnop/aclnn_glu.h: aclnnGlu, one half of a tensor times the logistic function of the other.
// SPDX-License-Identifier: Apache-2.0
//
//   out = A / (1 + exp(-B))
//
// Values: A and B are the first and the second half of self along dim. Rounded once.
// Types
//   self, out  floats, DOUBLE.
#ifndef PORTACL_ACLNNOP_ACLNN_GLU_H_
#define PORTACL_ACLNNOP_ACLNN_GLU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self  operand
//   dim   the dim that is cut, from the end where it is negative
//   out   result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's or out's type is not in the list
//   161002  self or out has more than 8 dimensions, or self none
//   161002  dim is none of self's
//   161002  the length of dim is odd
//   161002  out's shape is not that of self, its dim half as long
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnGluGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* out,
                                               uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGlu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GLU_H_
