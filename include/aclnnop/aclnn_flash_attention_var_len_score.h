// aclnnop/aclnn_flash_attention_var_len_score.h: aclnnFlashAttentionVarLenScore, attention of packed sequences.
// SPDX-License-Identifier: Apache-2.0
//
// aclnnFlashAttentionScore of each sequence: those of query and those of key are rows of one tensor. A sequence's results have the bits
// that they have alone. Rows behind the last sequence get 0, their statistics too.
//
// Types: those of aclnnFlashAttentionScore.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_VAR_LEN_SCORE_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_VAR_LEN_SCORE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. All else, the codes too, is as in aclnnop/aclnn_flash_attention_score.h.
//   query, key, value   inputLayout "TND": rows of all sequences, heads, elements
//   actualSeqQLenOptional, actualSeqKvLenOptional  for each sequence the rows of it and of those before, of query and of key; as many values,
//                       none less than the one before, at most the rows that there are. A sequence may have no rows
//   realShiftOptional   [B or 1, N, Sq or 1, Skv], or null. B sequences; Sq and Skv are the lengths of the longest
//   attenMaskOptional   of Sq, Skv and B as realShiftOptional; in the modes 2 to 4, 7 and 8 [2048, 2048]
//   dropMaskOptional    bits of one sequence behind the other, N * its queries * its keys of each
//   sparseMode          0 to 6, of each sequence; 7: 4 in the last sequence that has queries, 3 in the others; 8: 4 in the first one that
//                       has queries, 2 in the others
//   softmaxMaxOut, softmaxSumOut  [T, N, 8], in which the numbers of a sequence lie head by head: [N, its queries, 8]
//   attentionOutOut     [T, N, D of value]
// Codes: where the lengths of heads are looked at also 561002, lengths of sequences do not fit.
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionVarLenScoreGetWorkspaceSize(const aclTensor* query, const aclTensor* key, const
    aclTensor* value, const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional, const aclTensor*
    paddingMaskOptional, const aclTensor* attenMaskOptional, const aclIntArray* prefixOptional, const aclIntArray*
    actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional, double scaleValue, double keepProb, int64_t
    preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout, int64_t innerPrecise, int64_t sparseMode, const
    aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut, const aclTensor* softmaxOutOut, const aclTensor*
    attentionOutOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFlashAttentionVarLenScore(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_VAR_LEN_SCORE_H_
