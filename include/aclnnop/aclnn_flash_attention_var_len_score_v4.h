// aclnnop/aclnn_flash_attention_var_len_score_v4.h: aclnnFlashAttentionVarLenScoreV4, attention of packed sequences.
// SPDX-License-Identifier: Apache-2.0
//
// aclnnFlashAttentionVarLenScore that says in which order statistics lie.
//
// Types: those of aclnnFlashAttentionScore.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_VAR_LEN_SCORE_V4_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_VAR_LEN_SCORE_V4_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. All else, the codes too, is as in aclnnop/aclnn_flash_attention_var_len_score.h.
//   softmaxOutLayout   "same_as_input": statistics are [T, N, 8] as the shape says; null or empty: each sequence's lie head by head
// Codes: 161002, where inputLayout is looked at, for another text.
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionVarLenScoreV4GetWorkspaceSize(const aclTensor* query, const aclTensor* key,
    const aclTensor* value, const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional, const aclTensor*
    paddingMaskOptional, const aclTensor* attenMaskOptional, const aclIntArray* prefixOptional, const aclIntArray*
    actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t
    preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise, int64_t sparseMode, char*
    softmaxOutLayout, const aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut, const aclTensor* softmaxOutOut,
    const aclTensor* attentionOutOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFlashAttentionVarLenScoreV4(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_VAR_LEN_SCORE_V4_H_
