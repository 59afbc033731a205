// aclnnop/aclnn_stack.h: aclnnStack, tensors of one shape joined along a new dim.
// SPDX-License-Identifier: Apache-2.0
//
// out has a dim more than the tensors: dim, of as many elements as there are tensors. Each is converted to P, the common type of
// all (promotion, from the first on), then to out's type.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, unsigned, BOOL, complex; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_STACK_H_
#define PORTACL_ACLNNOP_ACLNN_STACK_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   tensors  at least one
//   dim      of out, counted from the start or, negative, from the end
//   out      result
// Codes, after those that all operators share, in this order:
//   561103  tensors or out is null
//   161002  tensors is empty (CANN crashes); 161001 an entry is null (CANN crashes)
//   161002  the type of a tensor, or of out, is not in the list
//   161002  the types do not promote; P does not cast to out's type
//   161002  the first tensor has more than 8 dims; dim is none of out's; shapes differ
//           (here success is returned when all tensors are empty; out is not looked at)
//   161002  out's shape is not the result's, be it that both have one element
// clang-format off
ACLNN_API aclnnStatus aclnnStackGetWorkspaceSize(const aclTensorList* tensors, int64_t dim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnStack(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_STACK_H_
