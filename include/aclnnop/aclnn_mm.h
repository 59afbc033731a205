// aclnnop/aclnn_mm.h: aclnnMm, the product of two matrices.
// SPDX-License-Identifier: Apache-2.0
//
// out = self @ mat2, "Products of matrices" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_MM_H_
#define PORTACL_ACLNNOP_ACLNN_MM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    [m, k]
//   mat2    [k, n]; one of format FRACTAL_NZ lies as its strides say
//   out     [m, n]
// Codes, after those that all operators share, in this order:
//   161001  self, mat2 or out is null
//   161002  the type of self, mat2 or out is not in the product's list; cubeMathType is not accepted
//   161002  self or mat2 has not two dims; mat2 has not as many rows as self has columns; out is not [m, n]
//           (here success is returned when out is empty; without terms it becomes 0)
//   561103  self or mat2 is neither dense nor transposed from that, and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnMmGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out, int8_t
    cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MM_H_
