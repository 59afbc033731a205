// aclnnop/aclnn_fmod_scalar.h: aclnnFmodScalar and aclnnInplaceFmodScalar, the remainder of division by a scalar, with the
// dividend's sign.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self - trunc(self / other) * other, exactly
//
// Values: C's fmod, exactly, with the sign of self. NaN for an infinite self or a zero other; self for an infinite other.
//   Integers by 0 give all bits 1.
// Types
//   self, other  floats, DOUBLE, INT8, UINT8, INT32, INT64.
//   P            STT; on Ascend 950 S950, but a DOUBLE scalar counts as DOUBLE.
//   out          the same list, whether P casts to it or not: FLOAT into INT32 is truncated.
#ifndef PORTACL_ACLNNOP_ACLNN_FMOD_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_FMOD_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self     dividend
//   other    divisor, scalar
//   out      result
//   selfRef  dividend and result
// Codes, after those that all operators share, in this order:
//   561103  other is null
//   161001  self or out is null
//   161002  the type of self, other (BOOL, too) or out is not in the list
//   161002  the types do not promote, or to INT16 (INT8 with UINT8)
//   161002  self has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnFmodScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                      aclTensor* out, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFmodScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceFmodScalarGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other,
                                                             uint64_t* workspaceSize,
                                                             aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceFmodScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                             aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FMOD_SCALAR_H_
