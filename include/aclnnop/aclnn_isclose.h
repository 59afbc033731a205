// aclnnop/aclnn_isclose.h: aclnnIsClose, whether elements of two tensors are equal but for a tolerance.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self == other, or other is finite and |self - other| <= atol + rtol * |other|, or equalNan and both are NaN
//
// Values: FLOAT, FLOAT16, BF16, BOOL and integers up to 32 bits are computed in float32, INT64 and DOUBLE in float64. rtol and
//   atol are rounded to float32;
//   their signs do not matter to the checks.
// Types
//   self, other  floats, DOUBLE, integers, BOOL; both the same.
//   out          BOOL.
#ifndef PORTACL_ACLNNOP_ACLNN_ISCLOSE_H_
#define PORTACL_ACLNNOP_ACLNN_ISCLOSE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   rtol, atol   relative and absolute tolerance
//   equalNan     whether a NaN is close to a NaN
//   out          result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self or other is not in the list
//   161002  the types of self and other differ
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
//   561103  out is not BOOL
ACLNN_API aclnnStatus aclnnIsCloseGetWorkspaceSize(const aclTensor* self, const aclTensor* other, double rtol,
                                                   double atol, bool equalNan, aclTensor* out,
                                                   uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnIsClose(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ISCLOSE_H_
