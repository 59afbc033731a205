// aclnnop/aclnn_flash_attention_score_v4.h: aclnnFlashAttentionScoreV4, attention whose dropped weights are drawn.
// SPDX-License-Identifier: Apache-2.0
//
// aclnnFlashAttentionScore with a shift that is added before or behind scaleValue, and, without dropMaskOptional, weights that seed and
// offset draw: each is kept with keepProb, alike in aclnnFlashAttentionScoreGradV4.
//
// Types: those of aclnnFlashAttentionScore.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_V4_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_V4_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. All else, the codes too, is as in aclnnop/aclnn_flash_attention_score.h.
//   pseType        of realShiftOptional: 0 softmax(scaleValue * query key^T + realShift), 1 softmax(scaleValue * (query key^T + realShift))
//   seed, offset   bit e of dropMaskOptional is what aclnnDropoutGenMaskV2 draws for these and the probability 1 - keepProb
//   inputLayout "TND", with actualSeqQLenOptional, actualSeqKvLenOptional and softmaxOutLayout: packed sequences, as in
//                  aclnnop/aclnn_flash_attention_var_len_score_v4.h. In the other layouts lengths are null or empty
//   queryRopeOptional, keyRopeOptional, dScale*Optional, sinkOptional  null or empty
//   qStartIdxOptional, kvStartIdxOptional, outDtype  are not used
// Codes: 561103, before the results are looked at, where what must be null is not, or pseType is another and realShiftOptional is given.
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionScoreV4GetWorkspaceSize(const aclTensor* query, const aclTensor* key, const
    aclTensor* value, const aclTensor* realShiftOptional, const aclTensor* dropMaskOptional, const aclTensor*
    paddingMaskOptional, const aclTensor* attenMaskOptional, const aclTensor* queryRopeOptional, const aclTensor*
    keyRopeOptional, const aclTensor* dScaleQOptional, const aclTensor* dScaleKOptional, const aclTensor*
    dScaleVOptional, const aclTensor* sinkOptional, const aclIntArray* prefixOptional, const aclIntArray*
    actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional, const aclIntArray* qStartIdxOptional, const
    aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t
    headNum, char* inputLayout, int64_t innerPrecise, int64_t sparseMode, int64_t outDtype, int64_t pseType, char*
    softmaxOutLayout, int64_t seed, int64_t offset, const aclTensor* softmaxMaxOut, const aclTensor* softmaxSumOut,
    const aclTensor* softmaxOutOut, const aclTensor* attentionOutOut, uint64_t* workspaceSize, aclOpExecutor**
    executor);
ACLNN_API aclnnStatus aclnnFlashAttentionScoreV4(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_V4_H_
