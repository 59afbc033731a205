// aclnnop/aclnn_flash_attention_unpadding_score_grad.h: aclnnFlashAttentionUnpaddingScoreGrad, the gradients of attention of packed sequences.
// SPDX-License-Identifier: Apache-2.0
//
// Those of aclnnFlashAttentionScoreGrad for each sequence of aclnnFlashAttentionVarLenScore, with the bits that they have alone. Rows behind
// the last sequence get 0, and so does dpse beside a sequence's scores.
//
// Types: those of aclnnFlashAttentionScoreGrad.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_UNPADDING_SCORE_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_UNPADDING_SCORE_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. All else, the codes too, is as in aclnnop/aclnn_flash_attention_score_grad.h, but for
// tensors, lengths and modes, which are as in aclnnop/aclnn_flash_attention_var_len_score.h.
//   softmaxMaxOptional, softmaxSumOptional, attentionInOptional  what aclnnFlashAttentionVarLenScore has written; none may be null
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionUnpaddingScoreGradGetWorkspaceSize(const aclTensor* query, const aclTensor*
    keyIn, const aclTensor* value, const aclTensor* dy, const aclTensor* pseShiftOptional, const aclTensor*
    dropMaskOptional, const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional, const aclTensor*
    softmaxMaxOptional, const aclTensor* softmaxSumOptional, const aclTensor* softmaxInOptional, const aclTensor*
    attentionInOptional, const aclIntArray* prefixOptional, const aclIntArray* actualSeqQLenOptional, const aclIntArray*
    actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum,
    char* inputLayout, int64_t innerPrecise, int64_t sparseMode, const aclTensor* dqOut, const aclTensor* dkOut, const
    aclTensor* dvOut, const aclTensor* dpseOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFlashAttentionUnpaddingScoreGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor*
    executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_UNPADDING_SCORE_GRAD_H_
