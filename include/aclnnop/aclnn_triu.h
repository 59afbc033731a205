// aclnnop/aclnn_triu.h: aclnnTriu and aclnnInplaceTriu, the upper triangle of matrices.
// SPDX-License-Identifier: Apache-2.0
//
//   out[..., i, j] = self[..., i, j] where j - i >= diagonal, else 0
//
// Values: chosen, so NaN and infinities outside of the triangle give 0; any diagonal is valid.
// Types
//   self  floats, DOUBLE, integers, unsigned, BOOL; on Ascend 950 also COMPLEX32 and COMPLEX64.
//   out   self's type.
#ifndef PORTACL_ACLNNOP_ACLNN_TRIU_H_
#define PORTACL_ACLNNOP_ACLNN_TRIU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Elementwise operators" in aclnnop/aclnn_util.h.
//   self      matrices: the last two dimensions
//   diagonal  0 the main diagonal, above it positive, below it negative
//   out       result
//   selfRef   matrices and result
// Codes, after those that all operators share, in this order:
//   161001  self or out is null
//   161002  self's type is not in the list, or out's is another
//   161002  the storage formats of self and out differ, or self's is private
//   161002  self has fewer than 2 dimensions (aclnnTriu takes those of an empty tensor of one), or more than 8
//   161002  out's shape is not self's
//           (here success is returned when self is empty)
ACLNN_API aclnnStatus aclnnTriuGetWorkspaceSize(const aclTensor* self, int64_t diagonal, aclTensor* out,
                                                uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTriu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                aclrtStream stream);
ACLNN_API aclnnStatus aclnnInplaceTriuGetWorkspaceSize(aclTensor* selfRef, int64_t diagonal,
                                                       uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceTriu(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                                       aclrtStream stream);

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TRIU_H_
