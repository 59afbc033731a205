// aclnnop/aclnn_cumprod.h: aclnnCumprod and aclnnInplaceCumprod, products of what has come so far along a dim.
// SPDX-License-Identifier: Apache-2.0
//
// out[i] = input[0] * ... * input[i] along dim, of elements converted to out's type first. Scans go from the first element
// along dim to the last, in float64 or modulo 2^n; every result is rounded once.
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, unsigned, BF16, on every product.
#ifndef PORTACL_ACLNNOP_ACLNN_CUMPROD_H_
#define PORTACL_ACLNNOP_ACLNN_CUMPROD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   input  tensor; in place the result, too
//   dim    an INT32 or INT64, counted from the start or, negative, from the end
//   dtype  out's type, or undefined (-1)
//   out    result, of input's shape
// Codes, after those that all operators share, in this order:
//   161001  input, dim or out is null
//   161002  the type of input, out or dim is not in its list; dim is none of input's; out's shape is not input's; dtype is not
//           out's
//           (here success is returned when input is empty: nothing is written)
//   561103  input is not dense and reaches outside its storage; more than 8 dims
// clang-format off
ACLNN_API aclnnStatus aclnnCumprodGetWorkspaceSize(const aclTensor* input, const aclScalar* dim, const aclDataType dtype,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCumprod(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceCumprodGetWorkspaceSize(aclTensor* input, const aclScalar* dim, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceCumprod(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CUMPROD_H_
