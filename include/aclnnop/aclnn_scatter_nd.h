// aclnnop/aclnn_scatter_nd.h: aclnnScatterNd, a tensor of which the parts that rows of indices name are written.
// SPDX-License-Identifier: Apache-2.0
//
// out = data, then out[indices[i]] = updates[i], where indices[i] is a row of indices: one for each of the first dims of data.
//
// Types: FLOAT, FLOAT16, BOOL; BF16 on newer products. indices: INT32 or INT64.
#ifndef PORTACL_ACLNNOP_ACLNN_SCATTER_ND_H_
#define PORTACL_ACLNNOP_ACLNN_SCATTER_ND_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h; bad indices, and those there twice: aclnnop/aclnn_index_select.h.
//   data     tensor
//   indices  its last dim is how many dims of data are named; 0 to their length - 1 each
//   updates  the shape of indices without its last dim, then data's dims that are not named
//   out      result, of data's type and shape
// Codes, after those that all operators share, in this order:
//   161001  data, indices, updates or out is null
//   161002  data's type is not in the list; indices' is not in its own; updates' or out's is not data's
//   161002  no dims, or more than 8; out's shape is not data's; more dims are named than data has; updates' shape is another one
//           (here success is returned when data, indices or updates is empty; out is not written)
// clang-format off
ACLNN_API aclnnStatus aclnnScatterNdGetWorkspaceSize(const aclTensor* data, const aclTensor* indices, const aclTensor* updates,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnScatterNd(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_SCATTER_ND_H_
