// aclnnop/aclnn_equal.h: aclnnEqual, whether two tensors are the same as wholes.
// SPDX-License-Identifier: Apache-2.0
//
//   out[0] = self and other have one shape, and self == other everywhere
//
// Values: exact comparison of the operands converted to P; a NaN is equal to nothing, so that a tensor that has one is not
// equal to itself. Tensors without elements are equal if their shapes are. Nothing broadcasts.
// Types
//   P     promotion of two tensors: the real types, BF16 since Atlas A2.
//   out   BOOL
#ifndef PORTACL_ACLNNOP_ACLNN_EQUAL_H_
#define PORTACL_ACLNNOP_ACLNN_EQUAL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self, other  operands, of any shapes
//   out          result, of shape [1]
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  P is undefined or not in the list
//   161002  out's type is not BOOL
//   161002  self, other or out has more than 8 dimensions
//   161002  out's shape is not [1]
ACLNN_API aclnnStatus aclnnEqualGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                 aclTensor* out, uint64_t* workspaceSize,
                                                 aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnEqual(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EQUAL_H_
