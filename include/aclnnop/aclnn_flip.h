// aclnnop/aclnn_flip.h: aclnnFlip, a tensor with the order of some dims turned round.
// SPDX-License-Identifier: Apache-2.0
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, complex; BF16 on newer products; unsigned on Ascend 950.
#ifndef PORTACL_ACLNNOP_ACLNN_FLIP_H_
#define PORTACL_ACLNNOP_ACLNN_FLIP_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self  tensor
//   dims  those turned round, counted from the start or, negative, from the end; none: a copy
//   out   result, of self's type and shape
// Codes, after those that all operators share, in this order:
//   161001  self, dims or out is null
//   161002  out's type is not self's, or is not in the list
//   161002  out's shape is not self's; self has more than 8 dims
//   161002  a value of dims is no dim of self, or names one twice; a tensor without dims counts as one dim
//           (here success is returned when self is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnFlipGetWorkspaceSize(const aclTensor* self, const aclIntArray* dims, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFlip(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLIP_H_
