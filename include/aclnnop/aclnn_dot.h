// aclnnop/aclnn_dot.h: aclnnDot, the product of two vectors.
// SPDX-License-Identifier: Apache-2.0
//
// out = sum of self[k] * tensor[k]. Of floats "Products of matrices" in aclnnop/aclnn_util.h; of integers modulo 2^n. Without terms 0.
//
// Types: FLOAT, FLOAT16, INT8, UINT8, INT32; BF16 on Atlas A2, A3 and Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_DOT_H_
#define PORTACL_ACLNNOP_ACLNN_DOT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    [k]
//   tensor  [k], of self's type
//   out     no dims, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, tensor or out is null
//   161002  the type of tensor or out is not self's; self's is not in its list
//   161002  self or tensor has not one dim; they differ in length; out has dims
//   561103  self or tensor is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnDotGetWorkspaceSize(const aclTensor* self, const aclTensor* tensor, aclTensor* out, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnDot(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_DOT_H_
