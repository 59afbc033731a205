// aclnnop/aclnn_pow_tensor_tensor.h: aclnnPowTensorTensor and aclnnInplacePowTensorTensor, powers of tensors by tensors.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self ^ exponent
//
// Values: C's pow: x^0 and 1^y are 1, also for NaN; a negative base with an exponent that is no integer gives NaN. Integers
//   are multiplied modulo 2^n; a negative exponent of integers gives 0, but for the bases 1 and -1.
// Types
//   self, exponent  the arithmetic types, but not both BOOL.
//   P               promotion of two tensors.
//   out             any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_POW_TENSOR_TENSOR_H_
#define PORTACL_ACLNNOP_ACLNN_POW_TENSOR_TENSOR_H_

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
//   161002  BF16 on an older product
//   161002  both are BOOL
//   161002  the type of self or exponent is not in the list
//   161002  the types do not promote
//   161002  P does not cast to out's type
//   161002  self or exponent has more than 8 dimensions
//   161002  self and exponent do not broadcast, or out's shape is not R
//           (here success is returned when self or exponent is empty)
ACLNN_API aclnnStatus aclnnPowTensorTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* exponent,
                                                           aclTensor* out, uint64_t* workspaceSize,
                                                           aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnPowTensorTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                           aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplacePowTensorTensorGetWorkspaceSize(const aclTensor* self,
                                                                  const aclTensor* exponent,
                                                                  uint64_t* workspaceSize,
                                                                  aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplacePowTensorTensor(void* workspace, uint64_t workspaceSize,
                                                  aclOpExecutor* executor, aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_POW_TENSOR_TENSOR_H_
