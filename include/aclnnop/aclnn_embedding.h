// aclnnop/aclnn_embedding.h: aclnnEmbedding, the rows of a table that an index tensor names.
// SPDX-License-Identifier: Apache-2.0
//
// out[...][j] = weight[indices[...]][j].
//
// Types: FLOAT, FLOAT16, DOUBLE, integers, BOOL, complex; BF16 on newer products. indices: INT32 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_EMBEDDING_H_
#define PORTACL_ACLNNOP_ACLNN_EMBEDDING_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices: "Indices" in aclnnop/aclnn_index_select.h.
//   weight   table
//   indices  0 to the number of rows - 1 each
//   out      result, of weight's type, a dim more than indices; written, although CANN declares it const
// Codes, after those that all operators share, in this order:
//   161001  weight, indices or out is null
//   161002  weight's type is not in the list, or out's is not weight's; indices' is not in its list
//   161002  more than 8 dims; out has not a dim more than indices, or other leading dims
//           (here success is returned when weight or indices is empty)
//   561103  weight has not two dims, or out's last is not as long as the second; dims that cannot be taken together
// clang-format off
ACLNN_API aclnnStatus aclnnEmbeddingGetWorkspaceSize(const aclTensor* weight, const aclTensor* indices, const aclTensor* out,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnEmbedding(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_EMBEDDING_H_
