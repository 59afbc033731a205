// aclnnop/aclnn_cat.h: aclnnCat, tensors joined along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// out is as long along dim as the tensors together; every tensor has the same other dims. Each is converted to P, the common
// type of all (promotion, from the first on), then to out's type. Tensors of shape [0] are left out before everything else,
// null pointers and types too.
//
// Types: FLOAT, FLOAT16, DOUBLE, INT8, UINT8, INT16, INT32, INT64, BOOL, COMPLEX64; BF16 on newer products and Atlas 200I/500 A2;
// on Ascend 950 unsigned and, each with itself alone, 8-bit floats.
#ifndef PORTACL_ACLNNOP_ACLNN_CAT_H_
#define PORTACL_ACLNNOP_ACLNN_CAT_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   tensors  any number of them
//   dim      counted from the start or, negative, from the end
//   out      result
// Codes, after those that all operators share, in this order:
//   (here success is returned when nothing but tensors of shape [0] is there)
//   161001  tensors, one of its entries, or out is null
//   161002  the type of a tensor, or of out, is not in the list
//   161002  the types do not promote, or to COMPLEX128; P does not cast to out's type
//   161002  the first tensor has a private format, or another tensor, or out, has another format
//   161002  the first tensor has no dims or more than 8; dim is none of them; other dims, or ranks, differ
//           (here success is returned when all tensors are empty; out is not looked at)
//   161002  out's shape is not the result's, be it that both have one element; 561103 where one tensor alone has elements
// clang-format off
ACLNN_API aclnnStatus aclnnCatGetWorkspaceSize(const aclTensorList* tensors, int64_t dim, aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCat(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CAT_H_
