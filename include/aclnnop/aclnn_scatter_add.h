// aclnnop/aclnn_scatter_add.h: aclnnScatterAdd, one element added for each element of an index tensor.
// SPDX-License-Identifier: Apache-2.0
//
// aclnnScatter with reduce 1: out = self, then out[index[i][j]][j] += src[i][j] for dim 0, and so on. BOOL adds as OR.
//
// Types and codes: those of aclnnScatter. Workspace: for FLOAT16 and BF16.
#ifndef PORTACL_ACLNNOP_ACLNN_SCATTER_ADD_H_
#define PORTACL_ACLNNOP_ACLNN_SCATTER_ADD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, order of sums: aclnnop/aclnn_index_select.h.
//   self, dim, index, src, out  as in aclnnop/aclnn_scatter.h; out may be self
// clang-format off
ACLNN_API aclnnStatus aclnnScatterAddGetWorkspaceSize(const aclTensor* self, int64_t dim, const aclTensor* index, const
    aclTensor* src, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnScatterAdd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SCATTER_ADD_H_
