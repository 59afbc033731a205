// aclnnop/aclnn_linalg_vector_norm.h: aclnnLinalgVectorNorm, norms over dims.
// SPDX-License-Identifier: Apache-2.0
//
// out = (sum of |x|^p over the dims)^(1/p); for p = 0 the number of elements that are not 0, for inf and -inf the largest and
// the least |x|. Powers are those of aclnnPowTensorTensor, in FLOAT, of DOUBLE in DOUBLE; other types are computed as FLOAT. p
// is ord.
//
// Types: any real ones that promote together; on Ascend 950 FLOAT, FLOAT16, BF16.
#ifndef PORTACL_ACLNNOP_ACLNN_LINALG_VECTOR_NORM_H_
#define PORTACL_ACLNNOP_ACLNN_LINALG_VECTOR_NORM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "Reductions" in aclnnop/aclnn_reduce_sum.h, "The two phases" and "Views" in aclnnop/aclnn_util.h.
//   self      tensor
//   ord       a number of any type, taken as FLOAT; before Ascend 950 2^31 and -2^31 mean inf and -inf
//   dims      the dims that are reduced, counted from the start or, negative, from the end; an array without values means all
//   keepDims  whether reduced dims stay, with length 1
//   dtype     out's type
//   out       result
// Codes, after those that all operators share, in this order:
//   161001  self, ord, dims or out is null
//   161002  out's type is not dtype; self's or out's is complex
//   161002  on Ascend 950: a type that is not in the list, or an out that is neither of self's type nor FLOAT
//   161002  the types of self and out do not promote
//   161002  an entry of dim is none of self's dims, or names one twice
//   161002  self or out has more than 8 dims; out's shape is not exactly the result's
//           (here success is returned when self is empty: out becomes 0)
//   561103  self is not dense and reaches outside its storage; a type to which no conversion exists
// clang-format off
ACLNN_API aclnnStatus aclnnLinalgVectorNormGetWorkspaceSize(const aclTensor* self, const aclScalar* ord, const aclIntArray*
    dims, bool keepDims, const aclDataType dtype, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLinalgVectorNorm(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LINALG_VECTOR_NORM_H_
