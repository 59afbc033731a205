// aclnnop/aclnn_eq_scalar.h: aclnnEqScalar and aclnnInplaceEqScalar, the comparison == of a tensor with a scalar.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self == other: 1 or 0, in out's type
//
// Values: exact comparison of the operands converted to P; a NaN gives 0. Complex numbers are compared by both parts.
// Types
//   self, other  the arithmetic types; on Ascend 950 also UINT64; on Atlas 910 UINT32 and UINT64; BF16 on every product but
//                Atlas 910.
//   P            on Ascend 950 S950. Else a complex or (real scalar) floating self keeps its type; a BOOL self, a floating or
//                a complex scalar: STT; else self's type. A scalar that is converted to an integer type wraps: where P is
//                UINT8, 300 counts as 44.
//   out          the same list, on Ascend 950 also UINT16 and UINT32.
#ifndef PORTACL_ACLNNOP_ACLNN_EQ_SCALAR_H_
#define PORTACL_ACLNNOP_ACLNN_EQ_SCALAR_H_

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
//   161001  self, other or out is null
//   161002  the type of self, other or out is not in its list
//   161002  the types of self and other do not promote (STT); on Ascend 950 P is undefined or not in the list
//   161002  self or out has more than 8 dimensions
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnEqScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                    aclTensor* out, uint64_t* workspaceSize,
                                                    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnEqScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                    aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceEqScalarGetWorkspaceSize(const aclTensor* selfRef, const aclScalar* other,
                                                           uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceEqScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EQ_SCALAR_H_
