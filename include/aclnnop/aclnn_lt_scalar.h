// aclnnop/aclnn_lt_scalar.h: aclnnLtScalar and aclnnInplaceLtScalar, the comparison < of a tensor with a scalar.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self < other: 1 or 0, in out's type
//
// Values: exact comparison of the operands converted to P; a NaN gives 0. There is no order of complex numbers.
// Types
//   self, other  floats, DOUBLE, integers, unsigned, BOOL.
//   P            on Ascend 950 S950. Else a floating self keeps its type; a DOUBLE scalar counts as FLOAT; else STT. A scalar
//                that is converted to an integer type wraps: where P is UINT8, 300 counts as 44.
//   out          the same list, on Ascend 950 also complex.
#ifndef PORTACL_ACLNNOP_ACLNN_LT_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_LT_SCALAR_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self     first operand
//   other    second operand, scalar
//   out      result
//   selfRef  first operand and result
// Codes, after those that all operators share, in this order:
//   561103  self or other is null, before Ascend 950
//   161001  self, other or out is null
//   161002  the type of self, other or out is not in its list
//   161002  P is undefined, or on Ascend 950 not in the list
//   161002  self or out has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnLtScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                    aclTensor* out, uint64_t* workspaceSize,
                                                    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLtScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceLtScalarGetWorkspaceSize(const aclTensor* selfRef, const aclScalar* other,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceLtScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LT_SCALAR_H_
