// aclnnop/aclnn_rotary_position_embedding_grad.h: aclnnRotaryPositionEmbeddingGrad, the gradients of a rotary embedding.
// SPDX-License-Identifier: Apache-2.0
//
// With pairs (a, b) of dy and (u, v) of x, and angles as aclnnRotaryPositionEmbedding takes them:
//   dx    (a * cos_a + b * sin_b, b * cos_b - a * sin_a)
//   dcos  the sums of (a * u, b * v) over the rows that share an angle
//   dsin  the sums of (-a * v, b * u) over these
//   mode  as there: in mode 3 pairs of x and dx as in mode 1, of the others as in mode 0
//
// Types: FLOAT, FLOAT16, BF16 from Atlas A2 on; none on other products. All tensors: dy's.
#ifndef PORTACL_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT; sums in float64, rounded once.
//   dy         tensor of 4 dims; rows are its last one, of an even length of at most 1024, in mode 2 a multiple of 4
//   cos, sin   of one shape: rows as long as dy's; each other dim is dy's or 1
//   xOptional  of dy's shape; null: dcosOut and dsinOut are not written
//   mode       0 to 3
//   dxOut      result, of dy's shape; may be x, or dy but in mode 3
//   dcosOut, dsinOut  results, of cos' shape where x is given; 0 where dy is empty and they are not
// Codes, after those that all operators share, in this order:
//   161001  dy, cos, sin, dxOut, dcosOut or dsinOut is null
//   161002  a type is not in the list or not dy's
//   561002  a rank or shape is another; mode is outside 0..3
//           (here success is returned when there is nothing to write)
// clang-format off
ACLNN_API aclnnStatus aclnnRotaryPositionEmbeddingGradGetWorkspaceSize(const aclTensor* dy, const aclTensor* cos,
    const aclTensor* sin, const aclTensor* xOptional, int64_t mode, const aclTensor* dxOut, const aclTensor* dcosOut,
    const aclTensor* dsinOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRotaryPositionEmbeddingGrad(void* workspace, uint64_t workspaceSize,
    aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_GRAD_H_
