// aclnnop/aclnn_topk_v2.h: aclnnTopkV2, aclnnTopk as PyTorch's back end calls it.
// SPDX-License-Identifier: Apache-2.0
//
// The same function, with the same types, checks and codes: see aclnnop/aclnn_topk.h. CANN does not document it; the parameters are those
// that torch_npu 2.13.0 hands over.
#ifndef PORTACL_ACLNNOP_ACLNN_TOPK_V2_H_
#define PORTACL_ACLNNOP_ACLNN_TOPK_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

//   stable  true there; decides nothing: of equal elements those with lower indices come first
// clang-format off
ACLNN_API aclnnStatus aclnnTopkV2GetWorkspaceSize(const aclTensor* self, int64_t k, int64_t dim, bool largest,
    bool sorted, bool stable, aclTensor* valuesOut, aclTensor* indicesOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnTopkV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_TOPK_V2_H_
