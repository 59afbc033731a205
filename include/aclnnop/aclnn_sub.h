// aclnnop/aclnn_sub.h: aclnnSub, aclnnSubs (with a scalar) and their in-place forms: the difference of two operands, the
// second one scaled.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self - alpha * other
//
// Values: alpha * other is not rounded before it is subtracted (a true fused multiply-add); integers modulo 2^n with alpha
//   converted to P. A NaN alpha is NaN. BOOL is exclusive OR.
// Types
//   self, other  the arithmetic types. Of a scalar other any.
//   P            promotion of two tensors; with a scalar SOLD, on Ascend 950 S950k.
//   out          any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_SUB_H_
#define PORTACL_ACLNNOP_ACLNN_SUB_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   alpha        factor of other, scalar
//   out          result
//   selfRef      first operand and result
// Codes, after those that all operators share, in this order:
//   161001  self, other, alpha or out is null
//   161002  the type of self or of a tensor other is not in the list
//   161002  the types of self and other do not promote
//   161002  alpha: P is BOOL and alpha neither integer nor BOOL, or alpha's type does not cast to P
//   161002  Ascend 950: P is not in the list, or self's or other's type does not cast to P
//   161002  P does not cast to out's type
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
// aclnnInplaceSub does not check the shape first.
// clang-format off
ACLNN_API aclnnStatus aclnnSubGetWorkspaceSize(const aclTensor* self, const aclTensor* other, const aclScalar* alpha,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSub(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceSubGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other, const aclScalar* alpha,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceSub(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnSubsGetWorkspaceSize(const aclTensor* self, const aclScalar* other, const aclScalar* alpha,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnSubs(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceSubsGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other, const aclScalar* alpha,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceSubs(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SUB_H_
