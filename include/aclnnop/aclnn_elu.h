// aclnnop/aclnn_elu.h: aclnnElu and aclnnInplaceElu, an exponential where the operand is negative.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self > 0 ? scale self : alpha scale (exp(inputScale self) - 1)
//
// Values: rounded once. Where alpha or inputScale is infinite or NaN, out is scale self or, where self is not positive,
//   -alpha scale.
// Types
//   self, selfRef             floats (BF16 everywhere), DOUBLE.
//   alpha, scale, inputScale  real; taken as FLOAT, for DOUBLE too.
//   out                       any type that self's casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_ELU_H_
#define PORTACL_ACLNNOP_ACLNN_ELU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self        operand
//   alpha       scalar
//   scale       scalar
//   inputScale  scalar
//   out         result
//   selfRef     operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, alpha, scale, inputScale or out is null
//   161002  self's type is not in its list
//   161002  a scalar is complex
//   161002  self's type does not cast to out's
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnEluGetWorkspaceSize(const aclTensor* self, const aclScalar* alpha,
                                               const aclScalar* scale, const aclScalar* inputScale,
                                               aclTensor* out, uint64_t* workspaceSize,
                                               aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnElu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceEluGetWorkspaceSize(aclTensor* selfRef, const aclScalar* alpha,
                                                      const aclScalar* scale, const aclScalar* inputScale,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceElu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ELU_H_
