// aclnnop/aclnn_prod.h: aclnnProd and aclnnProdDim, products of all elements or along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// out = the product of self's elements, converted to dtype first; BOOL: whether all of them are not 0.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, complex; BF16 on newer products. dtype: any.
#ifndef PORTACL_ACLNNOP_ACLNN_PROD_H_
#define PORTACL_ACLNNOP_ACLNN_PROD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   dim      counted from the start or, negative, from the end; aclnnProd: all dims
//   keepDim  whether dim stays, with length 1
//   dtype    to which elements are converted
//   out      result, of type dtype
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in the list, or out's is not dtype; self or out has more than 8 dims; dim is none of self's
//   161002  self is empty and out's type is complex or unsigned
//           (here success is returned when self is empty: out becomes 1)
//   161002  out's shape is not the result's; where that has one element, any shape of one element will do
//   561103  self is not dense and reaches outside its storage; no conversion to out's type exists
// clang-format off
ACLNN_API aclnnStatus aclnnProdGetWorkspaceSize(const aclTensor* self, const aclDataType dtype, aclTensor* out, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnProd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnProdDimGetWorkspaceSize(const aclTensor* self, int64_t dim, bool keepDim, const aclDataType dtype,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnProdDim(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_PROD_H_
