// aclnnop/aclnn_right_shift.h: aclnnRightShift, bits shifted down.
// SPDX-License-Identifier: Apache-2.0
//
//   out = floor(input / 2^shiftBits)
//
// Values: arithmetic for signed types, so that the sign stays. A count below 0 counts as 0, one from the width of P on as the
//   width less 1, as CANN has it: INT32 shifted by 40 gives 0 or -1, UINT32 its highest bit.
// Types
//   input, shiftBits, out  integers, unsigned.
//   P                      promotion of two tensors; it must cast to out's type.
#ifndef PORTACL_ACLNNOP_ACLNN_RIGHT_SHIFT_H_
#define PORTACL_ACLNNOP_ACLNN_RIGHT_SHIFT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   input      what is shifted
//   shiftBits  by how many bits
//   out        result
// Codes, after those that all operators share, in this order:
//   161001  input, shiftBits or out is null
//   161002  the type of input, shiftBits or out is not in the list
//   161002  input, shiftBits or out has more than 8 dimensions
//   161002  input and shiftBits do not broadcast, or out's shape is not R
//           (here success is returned when input or shiftBits is empty)
//   161002  P is undefined or does not cast to out's type
ACLNN_API aclnnStatus aclnnRightShiftGetWorkspaceSize(const aclTensor* input, const aclTensor* shiftBits,
                                                      aclTensor* out, uint64_t* workspaceSize,
                                                      aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRightShift(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                      aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_RIGHT_SHIFT_H_
