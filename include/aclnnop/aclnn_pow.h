// aclnnop/aclnn_pow.h: aclnnPowTensorScalar with its in-place form, and aclnnPowScalarTensor: powers of which one operand is
// a scalar.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self ^ exponent
//
// Values: C's pow: x^0 and 1^y are 1, also for NaN; a negative base with an exponent that is no integer gives NaN. Integers
//   are multiplied modulo 2^n; a negative exponent of integers gives 0, but for the bases 1 and -1.
// Types
//   self, exponent  the arithmetic types, of the scalar too.
//   out             any type that P casts to. Written, although CANN declares it const; so is self in place.
//   P               S950 on Ascend 950. Else complex: STT; DOUBLE exponent with an out of FLOAT gives FLOAT; a floating
//                   tensor keeps its type; a floating scalar or a BOOL tensor: STT; else the tensor's type.
#ifndef PORTACL_ACLNNOP_ACLNN_POW_H_
#define PORTACL_ACLNNOP_ACLNN_POW_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self      base; in place also the result
//   exponent  exponent
//   out       result
// Codes, after those that all operators share, in this order:
//   161001  self, exponent or out is null
//   161002  the type of self or exponent is not in the list
//   161002  STT of the two is undefined or does not cast to out's type: INT32 with a DOUBLE scalar into INT32, for one
//   161002  P is undefined, both are BOOL, or P does not cast to out's type
//   161002  the tensor has more than 8 dimensions, or out's shape is not its
//           (here success is returned when the tensor is empty)
//   161002  aclnnPowTensorScalar on Ascend 950: a negative exponent with an integral P, or one beyond the range of P
// What gives 561103 elsewhere ("Elementwise operators") gives 561000 from aclnnPowScalarTensor.
ACLNN_API aclnnStatus aclnnPowTensorScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* exponent,
                                                           const aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnPowTensorScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplacePowTensorScalarGetWorkspaceSize(const aclTensor* self,
                                                                  const aclScalar* exponent,
                                                                  uint64_t* workspaceSize,
                                                                  aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplacePowTensorScalar(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnPowScalarTensorGetWorkspaceSize(const aclScalar* self, const aclTensor* exponent,
                                                           const aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnPowScalarTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_POW_H_
