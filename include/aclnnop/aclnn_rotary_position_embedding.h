// aclnnop/aclnn_rotary_position_embedding.h: aclnnRotaryPositionEmbedding, pairs of a row's elements turned by angles of their own.
// SPDX-License-Identifier: Apache-2.0
//
// out = x * cos + r * sin, r the row with its pairs turned by a right angle: each pair (a, b) of x becomes
// (a * cos_a - b * sin_a, b * cos_b + a * sin_b).
//   mode 0  half: a are the first half of a row, b the second
//   mode 1  interleave: a lie at even places, b at odd ones
//   mode 2  quarter: halves of each half of a row
//   mode 3  interleave-half: pairs of x as in mode 1, of cos, sin and out as in mode 0
//
// Types: FLOAT, FLOAT16, BF16 from Atlas A2 on; none on other products. All tensors: x's.
#ifndef PORTACL_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_H_
#define PORTACL_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in FLOAT.
//   x         tensor of 4 dims; rows are its last one, of an even length of at most 1024, in mode 2 a multiple of 4
//   cos, sin  of one shape: rows as long as x's; each other dim is x's or 1
//   mode      0 to 3
//   out       result, of x's shape; may be x but in mode 3
// Codes, after those that all operators share, in this order:
//   161001  x, cos, sin or out is null
//   161002  a type is not in the list or not x's
//   561002  a rank or shape is another; mode is outside 0..3
//           (here success is returned when x is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnRotaryPositionEmbeddingGetWorkspaceSize(const aclTensor* x, const aclTensor* cos,
    const aclTensor* sin, int64_t mode, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnRotaryPositionEmbedding(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_ROTARY_POSITION_EMBEDDING_H_
