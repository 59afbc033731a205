// aclnnop/aclnn_rsub.h: aclnnRsub and aclnnRsubs (with a scalar), subtraction with the operands exchanged.
// SPDX-License-Identifier: Apache-2.0
//
//   out = other - alpha * self
//
// Values: as those of aclnnSub.
// Types
//   self   floats, DOUBLE, complex, integers.
//   other  the same, of a scalar too.
//   P      promotion of two tensors. With a scalar S950k on Ascend 950; else a floating self keeps its type, a floating
//          scalar gives STT, and otherwise it is self's type, where a complex scalar becomes 0.
//   out    any type that P casts to.
#ifndef PORTACL_ACLNNOP_ACLNN_RSUB_H_
#define PORTACL_ACLNNOP_ACLNN_RSUB_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self, other  operands
//   alpha        factor of self, scalar
//   out          result
// Codes, after those that all operators share, in this order:
//   161001  self, other, alpha or out is null
//   161002  the type of self or other is not in the list: a BOOL scalar, too
//   161002  the types of self and other do not promote
//   161002  alpha's type does not cast to P
//   161002  Ascend 950: P is not in the list, or self's or other's type does not cast to P
//   161002  P does not cast to out's type
//   161002  self or other has more than 8 dimensions
//   161002  self and other do not broadcast, or out's shape is not R
//           (here success is returned when self or other is empty)
ACLNN_API aclnnStatus aclnnRsubGetWorkspaceSize(const aclTensor* self, const aclTensor* other,
                                                const aclScalar* alpha, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRsub(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnRsubsGetWorkspaceSize(const aclTensor* self, const aclScalar* other,
                                                 const aclScalar* alpha, aclTensor* out,
                                                 uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRsubs(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                 aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RSUB_H_
