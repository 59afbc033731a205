// aclnnop/aclnn_norm.h: aclnnNorm, norms over dims.
// SPDX-License-Identifier: Apache-2.0
//
// out = (sum of |x|^p over the dims)^(1/p); for p = 0 the number of elements that are not 0, for inf and -inf the largest and
// the least |x|. Powers are those of aclnnPowTensorTensor, in FLOAT, of DOUBLE in DOUBLE; other types are computed as FLOAT. p
// is pScalar.
//
// Types: any that promote together; of complex self there is the 2-norm alone, of at most 7 dims, computed in its parts' type and 0
// in a complex out's imaginary part; on Ascend 950 FLOAT, FLOAT16, BF16.
#ifndef PORTACL_ACLNNOP_ACLNN_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self     tensor
//   pScalar  a number of any type, taken as FLOAT; before Ascend 950 2^31 and -2^31 mean inf and -inf
//   dim      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all
//   keepdim  whether reduced dims stay, with length 1
//   out      result
// Codes, after those that all operators share, in this order:
//   161001  self, pScalar, dim or out is null
//   161002  on Ascend 950: a type that is not in the list; self and out do not promote; there, what they promote to does not
//           cast to out's
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self or out has more than 8 dims; out's shape is not exactly the result's
//           (here success is returned when self is empty: out becomes 0)
//   561103  self is not dense and reaches outside its storage; a type to which no conversion exists; a complex self with
//           another pScalar than 2, or of 8 dims
// clang-format off
ACLNN_API aclnnStatus aclnnNormGetWorkspaceSize(const aclTensor* self, const aclScalar* pScalar, const aclIntArray* dim, bool
    keepdim, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NORM_H_
