// aclnnop/aclnn_left_shift.h: aclnnLeftShift and aclnnLeftShifts (by a scalar), bits shifted up.
// SPDX-License-Identifier: Apache-2.0
//
//   out = self * 2^shiftBits modulo 2^n
//
// Values: a count below 0 counts as 0, one from the width of P on as the width less 1.
// Types
//   self, shiftBits, out  integers, unsigned.
//   P                     promotion of two tensors; with a scalar STT; it must cast to out's type.
#ifndef PORTACL_ACLNNOP_ACLNN_LEFT_SHIFT_H_
#define PORTACL_ACLNNOP_ACLNN_LEFT_SHIFT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self       what is shifted
//   shiftBits  by how many bits, tensor or scalar
//   out        result
// Codes, after those that all operators share, in this order:
//   161001  self, shiftBits or out is null
//   161002  the type of self, shiftBits or out is not in the list
//   161002  self, shiftBits or out has more than 8 dimensions
//   161002  self and shiftBits do not broadcast, or out's shape is not R
//   161002  a private storage format of self, shiftBits or out
//           (here success is returned when self or shiftBits is empty)
//   161002  P is undefined or does not cast to out's type
ACLNN_API aclnnStatus aclnnLeftShiftGetWorkspaceSize(const aclTensor* self, const aclTensor* shiftBits,
                                                     aclTensor* out, uint64_t* workspaceSize,
                                                     aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLeftShift(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                     aclrtStream stream);
ACLNN_API aclnnStatus aclnnLeftShiftsGetWorkspaceSize(const aclTensor* self, const aclScalar* shiftBits,
                                                      aclTensor* out, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLeftShifts(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LEFT_SHIFT_H_
