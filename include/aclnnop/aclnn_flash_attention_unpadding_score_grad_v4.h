// aclnnop/aclnn_flash_attention_unpadding_score_grad_v4.h: aclnnFlashAttentionUnpaddingScoreGradV4, gradients.
// SPDX-License-Identifier: Apache-2.0
//
// aclnnFlashAttentionUnpaddingScoreGrad that says in which order statistics lie.
//
// Types: those of aclnnFlashAttentionScoreGrad.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_UNPADDING_SCORE_GRAD_V4_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_UNPADDING_SCORE_GRAD_V4_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. All else, the codes too, is as in aclnnop/aclnn_flash_attention_unpadding_score_grad.h.
//   softmaxInLayout   "same_as_input": statistics are [T, N, 8] as the shape says; null or empty: each sequence's lie head by head
// Codes: 161002, where inputLayout is looked at, for another text.
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV4GetWorkspaceSize(const aclTensor* query, const aclTensor*
    keyIn, const aclTensor* value, const aclTensor* dy, const aclTensor* pseShiftOptional, const aclTensor*
    dropMaskOptional, const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional, const aclTensor*
    softmaxMaxOptional, const aclTensor* softmaxSumOptional, const aclTensor* softmaxInOptional, const aclTensor*
    attentionInOptional, const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional, const aclIntArray*
    actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum,
    char* inputLayout, int64_t innerPrecise, int64_t sparseMode, const aclTensor* dqOut, const aclTensor* dkOut, const
    aclTensor* dvOut, const aclTensor* dpseOut, char* softmaxInLayout, uint64_t* workspaceSize, aclOpExecutor**
    executor);
ACLNN_API aclnnStatus aclnnFlashAttentionUnpaddingScoreGradV4(void* workspace, uint64_t workspaceSize, aclOpExecutor*
    executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_UNPADDING_SCORE_GRAD_V4_H_
