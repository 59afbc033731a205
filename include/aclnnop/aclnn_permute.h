// aclnnop/aclnn_permute.h: aclnnPermute, the dims of a tensor in another order.
// SPDX-License-Identifier: Apache-2.0
//
// Dim i of out is dim dims[i] of self.
//
// Types: arithmetic, unsigned, 8-bit floats; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_PERMUTE_H_
#define PORTACL_ACLNNOP_ACLNN_PERMUTE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self  tensor
//   dims  each dim of self once, counted from the start or, negative, from the end
//   out   result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, dims or out is null
//   161002  the type of self or out is not in the list, or out's is not self's
//   161002  out has another rank; dims has not a value for each dim, or one twice
//   161002  self has more than 8 dims; a value is no dim, or names one twice
//           (here success is returned when self and out are empty)
//   161002  out's shape is not the result's, be it that both have one element; 561103 where self is empty
// clang-format off
ACLNN_API aclnnStatus aclnnPermuteGetWorkspaceSize(const aclTensor* self, const aclIntArray* dims, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnPermute(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_PERMUTE_H_
