// aclnnop/aclnn_embedding_dense_backward.h: aclnnEmbeddingDenseBackward, the gradient of the table of an embedding.
// SPDX-License-Identifier: Apache-2.0
//
// out[v] = the sum of the rows of grad whose index is v, in float32 in row-major order and rounded once; with scaleGradByFreq divided by
// their number. Rows whose index is paddingIdx are left out.
//
// Types: grad and out FLOAT, FLOAT16, BF16 on newer products, also different ones; indices integers, BOOL, FLOAT16, FLOAT, DOUBLE, which
// are converted to INT64. Workspace: for all but INT32 and INT64 indices with a dense FLOAT out.
#ifndef PORTACL_ACLNNOP_ACLNN_EMBEDDING_DENSE_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_EMBEDDING_DENSE_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   grad             gradient: a row, its last dim, for each index
//   indices          0 to numWeights - 1 each
//   numWeights       rows of the table
//   paddingIdx       of rows that have no gradient; 2^63 and more: none
//   scaleGradByFreq  divides
//   out              gradient of the table; written, although CANN declares it const
// Codes, after those that all operators share, in this order:
//   161001  grad, indices or out is null
//   161002  the type of grad, indices or out is not in its list; one of them has more than 8 dims
//   161002  grad has no dims (CANN does not return), or not a row for each index, where rows have elements
//   161002  out's shape is not [numWeights, grad's last dim]; a private format
//   Where grad or indices is empty, out becomes 0.
// clang-format off
ACLNN_API aclnnStatus aclnnEmbeddingDenseBackwardGetWorkspaceSize(const aclTensor* grad, const aclTensor* indices, uint64_t
    numWeights, uint64_t paddingIdx, bool scaleGradByFreq, const aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnEmbeddingDenseBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EMBEDDING_DENSE_BACKWARD_H_
