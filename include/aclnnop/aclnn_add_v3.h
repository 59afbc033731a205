// aclnnop/aclnn_add_v3.h: aclnnAddV3 and aclnnInplaceAddV3, a scalar plus a scaled tensor.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self + alpha * other
//
// Values: as those of aclnnAdd. The in-place form writes other; selfRef is the scalar.
// Types
//   self   any.
//   other  FLOAT, FLOAT16, BF16, INT8, INT32 on every product.
//   P      STT where self is complex, FLOAT where other is floating, else SOLD with self as the scalar.
//   out    any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_ADD_V3_H_
#define PORTACL_ACLNNOP_ACLNN_ADD_V3_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, selfRef  first operand, scalar
//   other          second operand; result of the in-place form
//   alpha          factor of other, scalar
//   out            result
// Codes, after those that all operators share, in this order:
//   161001  self, other, alpha or out is null
//   161002  other's type is not in its list
//   161002  the types of self and other do not promote
//   161002  alpha: P is BOOL and alpha neither integer nor BOOL, or alpha's type does not cast to P
//   161002  P does not cast to out's type
//   161002  other has more than 8 dimensions
//   161002  out's shape is not other's
//           (here success is returned when other is empty)
ACLNN_API aclnnStatus aclnnAddV3GetWorkspaceSize(const aclScalar* self, const aclTensor* other,
                                                 const aclScalar* alpha, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnAddV3(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceAddV3GetWorkspaceSize(const aclScalar* selfRef, const aclTensor* other,
                                                        const aclScalar* alpha, uint64_t* workspaceSize,
                                                        aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceAddV3(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                        aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ADD_V3_H_
