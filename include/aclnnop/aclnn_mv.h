// aclnnop/aclnn_mv.h: aclnnMv, the product of a matrix and a vector.
// SPDX-License-Identifier: Apache-2.0
//
// out = self @ vec, "Products of matrices" in aclnnop/aclnn_util.h.
#ifndef PORTACL_ACLNNOP_ACLNN_MV_H_
#define PORTACL_ACLNNOP_ACLNN_MV_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    [m, k]
//   vec     [k]
//   out     [m], of vec's type
// Codes, after those that all operators share, in this order:
//   161001  self, vec or out is null
//   161002  out's type is not vec's; self's is not, unless self is empty
//   161002  the type of self, vec or out is not in the product's list; cubeMathType is not accepted
//   161002  self has not two dims, vec or out not one; vec is not as long as self has columns, or out not as long as self has rows
//           (here success is returned when out is empty; without terms it becomes 0)
//   561103  self or vec is not dense (self: nor transposed from that) and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnMvGetWorkspaceSize(const aclTensor* self, const aclTensor* vec, aclTensor* out, int8_t
    cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMv(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MV_H_
