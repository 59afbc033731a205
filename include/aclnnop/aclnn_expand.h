// aclnnop/aclnn_expand.h: aclnnExpand, a tensor whose dims of length 1 are repeated.
// SPDX-License-Identifier: Apache-2.0
//
// Types: FLOAT16, FLOAT, UINT8, INT8, INT32, INT64, BOOL; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_EXPAND_H_
#define PORTACL_ACLNNOP_ACLNN_EXPAND_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self  tensor
//   size  shape of the result: each dim of self, right-aligned, has this length or 1. Unlike in PyTorch, -1 is no length
//   out   result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, size or out is null
//   161002  out's type is not self's, or is not in the list
//   161002  size has fewer values than self dims, or another length where self's is not 1; out's shape is not size
//   161002  self or out has more than 8 dims
//           (here success is returned when self or out is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnExpandGetWorkspaceSize(const aclTensor* self, const aclIntArray* size, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnExpand(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EXPAND_H_
