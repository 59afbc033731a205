// aclnnop/aclnn_remainder.h: aclnnRemainder... of tensors and scalars, and their in-place forms: the remainder with the
// divisor's sign.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self - floor(self / other) * other, exactly
//
// Values: an exact remainder, that of C's fmod, to which other is added where it is not 0 and has the other sign. Floating:
//   NaN for an infinite self or a zero other; a finite self with an infinite other is self, or other where the signs differ.
//   Integers by 0 give all bits 1.
// Types
//   P    floats, DOUBLE, INT32, INT64 (on Atlas 310B nothing). Two tensors: their promotion. Tensor and scalar: S950 on
//        Ascend 950, but a DOUBLE scalar counts as DOUBLE; else a floating self keeps its type, a floating scalar or BOOL
//        self: STT, else self's type. Scalar and tensor: the same on 950, else other's type.
//   out  any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_REMAINDER_H_
#define PORTACL_ACLNNOP_ACLNN_REMAINDER_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  dividend and divisor, scalar or tensor
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  tensors: P is undefined, does not cast to out's type or is not in the list; they do not broadcast, or out's shape
//           is not R (other products than Ascend 950 take () for (1) and back, not in place); self, other or out has more
//           than 8 dimensions
//   161002  with a scalar: out's shape is not the tensor's; an operand is complex; P is undefined, not cast to by self's
//           type, not in the list or does not cast to out's; the tensor or out has more than 8 dimensions
//           (here success is returned when a tensor is empty)
// aclnnRemainderScalarTensor: a null is 561103, and out's type must be in P's list.
// clang-format off
ACLNN_API aclnnStatus aclnnRemainderTensorTensorGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRemainderTensorTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorTensorGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
ACLNN_API aclnnStatus aclnnRemainderTensorScalarGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRemainderTensorScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorScalarGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceRemainderTensorScalar(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
ACLNN_API aclnnStatus aclnnRemainderScalarTensorGetWorkspaceSize(const aclScalar* self, const aclTensor* other,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRemainderScalarTensor(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_REMAINDER_H_
