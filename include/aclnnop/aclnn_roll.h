// aclnnop/aclnn_roll.h: aclnnRoll, a tensor whose elements are moved along dims, what leaves one end entering at the other.
// SPDX-License-Identifier: Apache-2.0
//
// Element i of dim dims[k] becomes element (i + shifts[k]) mod its length; a dim that is there twice is moved by the sum. Without
// dims the whole tensor is moved in row-major order.
//
// Types: FLOAT, FLOAT16, INT8, UINT8, INT32, UINT32, INT64, BOOL; BF16 and INT16 on newer products; COMPLEX64 on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_ROLL_H_
#define PORTACL_ACLNNOP_ACLNN_ROLL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   x       tensor
//   shifts  one for each of dims, or one alone without dims
//   dims    counted from the start or, negative, from the end
//   out     result, of x's type and shape
// Codes, after those that all operators share, in this order:
//   161001  x, shifts, dims or out is null
//   161002  the type of x or out is not in the list, or out's is not x's
//   161002  out's shape is not x's; shifts and dims do not go together; x has more than 8 dims
//           (here success is returned when x is empty)
//   161002  x has no dims and dims has values; a value of dims is no dim of x
// clang-format off
ACLNN_API aclnnStatus aclnnRollGetWorkspaceSize(const aclTensor* x, const aclIntArray* shifts, const aclIntArray* dims,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRoll(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ROLL_H_
