// aclnnop/aclnn_linalg_cross.h: aclnnLinalgCross, cross products along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// Along dim: out[0] = self[1] * other[2] - self[2] * other[1], out[1] = self[2] * other[0] - self[0] * other[2],
// out[2] = self[0] * other[1] - self[1] * other[0]. Of 16-bit floats in float32, rounded once; integers modulo 2^n. Complex numbers
// are not conjugated. out may be one of the operands.
//
// Types: FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, COMPLEX64, COMPLEX128; BF16 on Atlas A2, Atlas A3, Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_LINALG_CROSS_H_
#define PORTACL_ACLNNOP_ACLNN_LINALG_CROSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   self, other  operands of one type, which broadcast, along dim to 3 elements
//   dim          of self; negative ones count from its end. Where self has fewer dims it is the same from the end
//   out          the result, of their type and the broadcast shape
// Codes, after those that all operators share, in this order:
//   161001  self, other or out is null
//   161002  a type is not in the list, or not self's; more than 8 dims
//   161002  the shapes do not broadcast, or out's is another; dim is none of self's; the broadcast shape has not 3 elements there
//           (here success is returned when out is empty)
//   561103  self or other is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnLinalgCrossGetWorkspaceSize(const aclTensor* self, const aclTensor* other, int64_t dim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLinalgCross(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LINALG_CROSS_H_
