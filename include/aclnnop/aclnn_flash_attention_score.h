// aclnnop/aclnn_flash_attention_score.h: aclnnFlashAttentionScore, attention of all heads at once.
// SPDX-License-Identifier: Apache-2.0
//
// attentionOut = (softmax(scaleValue * (query key^T + realShift)) * kept / keepProb) value, for each batch and head. Hidden keys have the
// weight 0, a query that sees none the row 0. softmaxMaxOut and softmaxSumOut: each row's greatest score and sum of exp(score - greatest),
// 8 times; of a query that sees no key -FLT_MAX and FLT_MAX. docs/numerics.md has the order of the sums.
//
// Types: FLOAT, FLOAT16, BF16 from Atlas A2 on; none on other products. attenMask: BOOL, UINT8; dropMask: UINT8; softmax*: FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. Computed in FLOAT. Attention asks for a workspace.
//   query, key, value   inputLayout "BSH" [B, S, N*D], "SBH" [S, B, N*D], "BSND" or "BNSD"; key and value may have fewer heads, of which
//                       each serves as many of query's; value's may have fewer elements; D is at most 768
//   realShiftOptional   [B or 1, N, Sq or 1, Skv], or null
//   dropMaskOptional    a bit for each weight, the lowest of a byte first, 1 for what is kept; null: all are, and keepProb is 1
//   attenMaskOptional   what is not 0 hides a key: [Sq, Skv], [1, 1, Sq, Skv], [B, 1, Sq, Skv], [B, N, Sq, Skv]; in the modes 2 to 4
//                       [2048, 2048], in mode 6 [3072, 2048], whose content is not read. Null or without dims: all keys are seen
//   sparseMode          0 by the mask, and keys i - preTokens to i + nextTokens of query i; 1 by the mask; 2 keys up to i; 3 up to
//                       i + Skv - Sq; 4 as 0 without the mask, from i + Skv - Sq; 5 and 6 as 3, and prefix[b] keys of batch b
//   softmaxMaxOut, softmaxSumOut  [B, N, Sq, 8]
//   attentionOutOut     of query's layout
//   paddingMaskOptional, innerPrecise, softmaxOutOut  are not used
// Codes, after those that all operators share, in this order:
//   161001  a tensor that is not optional, or inputLayout, is null (here success is returned when the results are empty)
//   161002  types differ; headNum is less than 1; inputLayout is another; a rank or a length of heads does not fit
//   561002  the type is not in the list; keepProb is not in (0, 1]; heads, batches or an optional tensor do not fit; sparseMode is outside
//           0..6; both tokens are negative
//   161001  a result has another shape or type
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionScoreGetWorkspaceSize(const aclTensor* query, const aclTensor* key,
    const aclTensor* value, const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional, const aclIntArray* prefixOptional,
    double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t headNum, char* inputLayout,
    int64_t innerPrecise, int64_t sparseMode, const aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut,
    const aclTensor* softmaxOutOut, const aclTensor* attentionOutOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFlashAttentionScore(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

// CANN declares packed sequences here, too.
#include "aclnn_flash_attention_var_len_score.h"
#include "aclnn_flash_attention_var_len_score_v4.h"

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_H_
