// aclnnop/aclnn_geglu.h: aclnnGeGlu and aclnnGeGluV3, one half of a tensor times GELU of the other.
// SPDX-License-Identifier: Apache-2.0
//
//   out = A gelu(B),   or gelu(A) B where activateLeft
//   outGelu = gelu(B), or gelu(A)
//
// Values: A and B are the first and the second half of self along dim. Each rounded once.
// Types
//   self, out, outGelu  floats, one type.
#ifndef PORTACL_ACLNNOP_ACLNN_GEGLU_H_
#define PORTACL_ACLNNOP_ACLNN_GEGLU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self          operand
//   dim           the dim that is cut, from the end where it is negative
//   approximate   0: GELU with erf; 1: that with tanh (aclnnop/aclnn_gelu_v2.h)
//   activateLeft  whether GELU is taken of A; aclnnGeGlu takes it of B
//   out, outGelu  results
// Codes, after those that all operators share, in this order:
//   161001  self, out or outGelu is null
//   161002  self's, out's or outGelu's type is not in the list
//   161002  the three types are not one, where self has elements and dimensions
//   161002  one of the three has more than 8 dimensions
//   161002  dim is none of self's
//   161002  approximate is neither 0 nor 1
//           (here success is returned when self has no dimension)
//   161002  the length of dim is odd
//   161002  out's or outGelu's shape is not that of self, its dim half as long
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnGeGluGetWorkspaceSize(const aclTensor* self, int64_t dim, int64_t approximate,
                                                 aclTensor* out, aclTensor* outGelu, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGeGlu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnGeGluV3GetWorkspaceSize(const aclTensor* self, int64_t dim, int64_t approximate,
                                                   bool activateLeft, aclTensor* out, aclTensor* outGelu,
                                                   uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGeGluV3(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GEGLU_H_
