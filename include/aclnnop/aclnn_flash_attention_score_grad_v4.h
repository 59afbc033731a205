// aclnnop/aclnn_flash_attention_score_grad_v4.h: aclnnFlashAttentionScoreGradV4, the gradients of aclnnFlashAttentionScoreV4.
// SPDX-License-Identifier: Apache-2.0
//
// aclnnFlashAttentionScoreGrad; where pseType is 0, dpse = g. The same seed, offset and keepProb drop the same weights.
//
// Types: those of aclnnFlashAttentionScore.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_V4_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_V4_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. All else, the codes too, is as in aclnnop/aclnn_flash_attention_score_grad.h and
// aclnnop/aclnn_flash_attention_score_v4.h.
//   inputLayout "TND", with actualSeqQLenOptional, actualSeqKvLenOptional and softmaxInLayout: packed sequences, as in
//                  aclnnop/aclnn_flash_attention_unpadding_score_grad_v4.h. In the other layouts lengths are null or empty
//   sinkOptional, queryRopeOptional, keyRopeOptional, dScale*Optional  null or empty
//   qStartIdxOptional, kvStartIdxOptional, outDtype, dqRopeOut, dkRopeOut, dsinkOut  are not used
// Codes: 561103, before the statistics are looked at, where what must be null is not, or pseType is neither 0 nor 1 and pseShiftOptional is
// given.
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionScoreGradV4GetWorkspaceSize(const aclTensor* query, const aclTensor* keyIn,
    const aclTensor* value, const aclTensor* dy, const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional, const aclTensor* softmaxMaxOptional, const
    aclTensor* softmaxSumOptional, const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional, const
    aclTensor* sinkOptional, const aclTensor* queryRopeOptional, const aclTensor* keyRopeOptional, const aclTensor*
    dScaleQOptional, const aclTensor* dScaleKOptional, const aclTensor* dScaleVOptional, const aclTensor*
    dScaleDyOptional, const aclTensor* dScaleOOptional, const aclIntArray* prefixOptional, const aclIntArray*
    actualSeqQLenOptional, const aclIntArray* actualSeqKvLenOptional, const aclIntArray* qStartIdxOptional, const
    aclIntArray* kvStartIdxOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens, int64_t
    headNum, char* inputLayout, char* softmaxInLayout, int64_t innerPrecise, int64_t sparseMode, int64_t pseType,
    int64_t seed, int64_t offset, int64_t outDtype, const aclTensor* dqOut, const aclTensor* dkOut, const aclTensor*
    dvOut, const aclTensor* dqRopeOut, const aclTensor* dkRopeOut, const aclTensor* dpseOut, const aclTensor* dsinkOut,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFlashAttentionScoreGradV4(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_V4_H_
