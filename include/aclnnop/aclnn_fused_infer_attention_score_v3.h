// aclnnop/aclnn_fused_infer_attention_score_v3.h: aclnnFusedInferAttentionScoreV3, attention of sequences with caches.
// SPDX-License-Identifier: Apache-2.0
//
// V3: V2 with rotary parts of query and key, which must be null here.
#ifndef PORTACL_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_V3_H_
#define PORTACL_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_V3_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. All else, the codes too, is as in aclnnop/aclnn_fused_infer_attention_score.h.
// clang-format off
ACLNN_API aclnnStatus aclnnFusedInferAttentionScoreV3GetWorkspaceSize(const aclTensor* query, const aclTensorList* key,
    const aclTensorList* value, const aclTensor* pseShift, const aclTensor* attenMask, const aclIntArray*
    actualSeqLengths, const aclIntArray* actualSeqLengthsKv, const aclTensor* deqScale1, const aclTensor* quantScale1,
    const aclTensor* deqScale2, const aclTensor* quantScale2, const aclTensor* quantOffset2, const aclTensor*
    antiquantScale, const aclTensor* antiquantOffset, const aclTensor* blockTable, const aclTensor* queryPaddingSize,
    const aclTensor* kvPaddingSize, const aclTensor* keyAntiquantScale, const aclTensor* keyAntiquantOffset, const
    aclTensor* valueAntiquantScale, const aclTensor* valueAntiquantOffset, const aclTensor* keySharedPrefix, const
    aclTensor* valueSharedPrefix, const aclIntArray* actualSharedPrefixLen, const aclTensor* queryRope, const aclTensor*
    keyRope, const aclTensor* keyRopeAntiquantScale, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t
    nextTokens, char* inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize,
    int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode, int64_t valueAntiquantMode, const aclTensor*
    attentionOut, const aclTensor* softmaxLse, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFusedInferAttentionScoreV3(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_V3_H_
