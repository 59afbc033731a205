// aclnnop/aclnn_mul.h: aclnnMul, aclnnMuls (with a scalar) and their in-place forms: the product of two operands.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self * other
//
// Values: BOOL is AND; integers modulo 2^n; a complex product is (ac - bd, ad + bc).
// Types
//   self, other  the arithmetic types. Of a scalar other any.
//   P            promotion of two tensors. With a scalar S950k on Ascend 950, where it must cast to out's type. Else complex
//                on either side: STT; a floating self keeps its type, but BF16 gives FLOAT; a DOUBLE scalar with a BOOL self
//                or with an out of FLOAT gives FLOAT; another floating scalar, or a BOOL self: STT; else self's type; and
//                INT32 times 2.5 into INT32 is truncated.
//   out          the arithmetic types.
#ifndef PORTACL_ACLNNOP_ACLNN_MUL_H_
#define PORTACL_ACLNNOP_ACLNN_MUL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   out          result
//   selfRef      first operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self, of a tensor other or of out is not in the list
//   161002  two tensors do not promote, or, not on Ascend 950, P does not cast to out's type
//   161002  a scalar on Ascend 950: P is not in the list, self's or other's type does not cast to P, or P to out's
//   161002  aclnnMul alone: self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnMulGetWorkspaceSize(const aclTensor* self, const aclTensor* other, aclTensor* out,
                                               uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                               aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceMulGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other,
                                                      uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceMul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);
ACLNN_API aclnnStatus aclnnMulsGetWorkspaceSize(const aclTensor* self, const aclScalar* other, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMuls(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceMulsGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other,
                                                       uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceMuls(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MUL_H_
