// aclnnop/aclnn_addcmul.h: aclnnAddcmul and aclnnInplaceAddcmul, a tensor plus a scaled product.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self + value * (tensor1 * tensor2)
//
// Values: value is converted to P, but stays FLOAT where P is FLOAT16 or BF16: a floating one with integers is truncated, a
//   complex one becomes 0.
// Types
//   self, tensor1, tensor2  floats, DOUBLE, INT8, UINT8, INT32, INT64.
//   P                       promotion of the three.
//   value                   any.
//   out                     any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_ADDCMUL_H_
#define PORTACL_ACLNNOP_ACLNN_ADDCMUL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self              what is added to
//   tensor1, tensor2  factors
//   value             factor of the product, scalar
//   out               result
//   selfRef           what is added to, and result
// Codes, after those that all operators share, in this order:
//   161001  self, tensor1, tensor2, value or out is null
//   161002  the type of self, tensor1 or tensor2 is not in the list
//   161002  the three types do not promote, or to INT16 (INT8 with UINT8)
//   161002  P does not cast to out's type
//   161002  a private storage format of any of the four
//   161002  self, tensor1 or tensor2 has more than 8 dimensions
//   161002  the three do not broadcast, or out's shape is not R
//           (here success is returned when self, tensor1 or tensor2 is empty)
ACLNN_API aclnnStatus aclnnAddcmulGetWorkspaceSize(const aclTensor* self, const aclTensor* tensor1,
                                                   const aclTensor* tensor2, const aclScalar* value,
                                                   aclTensor* out, uint64_t* workspaceSize,
                                                   aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddcmul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                   aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAddcmulGetWorkspaceSize(const aclTensor* selfRef, const aclTensor* tensor1,
                                                          const aclTensor* tensor2, const aclScalar* value,
                                                          uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAddcmul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                          aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADDCMUL_H_
