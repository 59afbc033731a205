// aclnnop/aclnn_floor_divide.h: aclnnFloorDivide, aclnnFloorDivides (with a scalar) and their in-place forms: division,
// rounded down.
// SPDX-License-Identifier: Apache-2.0
//
//   out = floor(self / other)
//
// Values: the rounded quotient of floats is rounded down, as in CANN: 1.0 by 0.1 in FLOAT is 10, where PyTorch corrects it to
//   9; infinities and NaN stay. Integers are exact; their division by 0 gives all bits 1. BOOL is computed in FLOAT.
// Types
//   self, other  floats, DOUBLE, integers, BOOL, of a scalar too.
//   P            promotion of two tensors; with a scalar STT, on Ascend 950 S950.
//   out          any; on Ascend 950 a type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_FLOOR_DIVIDE_H_
#define PORTACL_ACLNNOP_ACLNN_FLOOR_DIVIDE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  dividend and divisor
//   out          result
//   selfRef      dividend and result
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  the type of self or other is not in the list
//   161002  the types of self and other do not promote
//   161002  Ascend 950: P is not in the list, self's or other's type does not cast to P, or P to out's
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
// aclnnInplaceFloorDivide checks the shape first ("In place").
// clang-format off
ACLNN_API aclnnStatus aclnnFloorDivideGetWorkspaceSize(const aclTensor* self, const aclTensor* other, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFloorDivide(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceFloorDivideGetWorkspaceSize(aclTensor* selfRef, const aclTensor* other,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceFloorDivide(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnFloorDividesGetWorkspaceSize(const aclTensor* self, const aclScalar* other, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFloorDivides(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceFloorDividesGetWorkspaceSize(aclTensor* selfRef, const aclScalar* other,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceFloorDivides(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLOOR_DIVIDE_H_
