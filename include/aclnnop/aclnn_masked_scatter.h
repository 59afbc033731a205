// aclnnop/aclnn_masked_scatter.h: aclnnInplaceMaskedScatter: where a mask is true, a tensor takes the elements of another in their order.
// SPDX-License-Identifier: Apache-2.0
//
// The first element of selfRef, in row-major order, where mask is true becomes the first of source, the second the second, and so on.
//
// Types: real arithmetic; BF16 on newer products. mask: BOOL, or UINT8, of which every number but 0 is true. Workspace: yes.
#ifndef PORTACL_ACLNNOP_ACLNN_MASKED_SCATTER_H_
#define PORTACL_ACLNNOP_ACLNN_MASKED_SCATTER_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   selfRef  tensor, written
//   mask     broadcasts to selfRef's shape
//   source   of selfRef's type, any shape; where it has fewer elements than mask is true at, the rest of selfRef stays as it is, and the
//            next synchronisation of the stream returns 507015 once, as for a bad index (aclnnop/aclnn_index_select.h)
// Codes, after those that all operators share, in this order:
//   161001  selfRef, mask or source is null
//   161002  selfRef's type is not in the list; mask's is not in its own; source's is not selfRef's
//   161002  more than 8 dims; mask does not broadcast to selfRef's shape, but one of shape [1] does to one without dims
//           (here success is returned when selfRef or mask is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnInplaceMaskedScatterGetWorkspaceSize(aclTensor* selfRef, const aclTensor* mask, const aclTensor* source,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnInplaceMaskedScatter(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MASKED_SCATTER_H_
