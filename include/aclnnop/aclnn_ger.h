// aclnnop/aclnn_ger.h: aclnnGer, the outer product of two vectors.
// SPDX-License-Identifier: Apache-2.0
//
// out[i, j] = self[i] * vec2[j], as aclnnMul's values: BOOL is AND, integers modulo 2^n.
//
// Types: FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL, COMPLEX64, COMPLEX128; BF16 on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_GER_H_
#define PORTACL_ACLNNOP_ACLNN_GER_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self  [m]
//   vec2  [n]
//   out   [m, n]
// Codes, after those that all operators share, in this order:
//   161001  self, vec2 or out is null
//   161002  the type of self, vec2 or out is not in the list; what self's and vec2's promote to does not cast to out's
//   161002  self or vec2 has not one dim, or out not two; out is not [m, n]
//           (here success is returned when self or vec2 is empty)
//   561103  self or vec2 is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnGerGetWorkspaceSize(const aclTensor* self, const aclTensor* vec2, aclTensor* out, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGer(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GER_H_
