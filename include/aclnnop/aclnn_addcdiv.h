// aclnnop/aclnn_addcdiv.h: aclnnAddcdiv and aclnnInplaceAddcdiv, a tensor plus a scaled quotient.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self + value * (tensor1 / tensor2)
//
// Values: value is converted to P, but stays FLOAT where P is FLOAT16 or BF16. Division by 0 gives infinities and NaN. Where
//   all three are INT64, the quotient is truncated toward zero, and division by 0 gives -1.
// Types
//   self, tensor1, tensor2  floats, DOUBLE, INT64.
//   P                       promotion of the three.
//   value                   any.
//   out                     any type that P casts to. Written, although CANN declares it const.
#ifndef PORTACL_ACLNNOP_ACLNN_ADDCDIV_H_
#define PORTACL_ACLNNOP_ACLNN_ADDCDIV_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self              what is added to
//   tensor1, tensor2  dividend and divisor
//   value             factor of the quotient, scalar
//   out               result
//   selfRef           what is added to, and result
// Codes, after those that all operators share, in this order:
//   161001  self, tensor1, tensor2, value or out is null
//   161002  the type of self, tensor1 or tensor2 is not in the list
//   161002  the three types do not promote, or P does not cast to out's type
//   161002  self, tensor1, tensor2 or out has more than 8 dimensions
//   161002  tensor1 and tensor2 do not broadcast, self not with them, or out's shape is not R
//           (here success is returned when self, tensor1 or tensor2 is empty)
ACLNN_API aclnnStatus aclnnAddcdivGetWorkspaceSize(const aclTensor* self, const aclTensor* tensor1,
                                                   const aclTensor* tensor2, const aclScalar* value,
                                                   const aclTensor* out, uint64_t* workspaceSize,
                                                   aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddcdiv(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAddcdivGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* tensor1,
                                                          const aclTensor* tensor2, const aclScalar* value,
                                                          uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAddcdiv(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADDCDIV_H_
