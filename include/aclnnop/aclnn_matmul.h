// aclnnop/aclnn_matmul.h: aclnnMatmul, the product of tensors as torch.matmul has it.
// SPDX-License-Identifier: Apache-2.0
//
// out = self @ mat2 of their last two dims, those before broadcast; "Products of matrices" in aclnnop/aclnn_util.h. A self of one dim is a
// row, a mat2 of one dim a column, and that dim is not in the result.
// Workspace: for an out that has another shape than the result and is not dense.
#ifndef PORTACL_ACLNNOP_ACLNN_MATMUL_H_
#define PORTACL_ACLNNOP_ACLNN_MATMUL_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   self    1 to 6 dims
//   mat2    1 to 6 dims; one of format FRACTAL_NZ lies as its strides say
//   out     as many elements as the result, in its order; any shape
// Codes, after those that all operators share, in this order:
//   161001  self, mat2 or out is null
//   161002  the type of self, mat2 or out is not in the product's list; cubeMathType is not accepted
//   161002  self or mat2 has no dim or more than 6; they have not as many terms; the dims before do not broadcast
//   161002  self or out has the format FRACTAL_NZ
//           (here success is returned when out and self or mat2 are empty; where only these are, out becomes 0, whatever its shape)
//   561103  out has another number of elements than the result; self or mat2 is neither dense nor transposed from that, and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnMatmulGetWorkspaceSize(const aclTensor* self, const aclTensor* mat2, aclTensor* out, int8_t
    cubeMathType, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMatmul(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MATMUL_H_
