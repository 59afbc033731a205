// aclnnop/aclnn_flash_attention_score_grad.h: aclnnFlashAttentionScoreGrad, the gradients of attention.
// SPDX-License-Identifier: Apache-2.0
//
// From dy, the gradient of aclnnFlashAttentionScore's result, with its weights w made again from the scores and the statistics, and
// m = kept / keepProb, 1 where nothing is dropped:
//   dv = (w * m)^T dy,  g = w * (dy value^T * m - the rows' sums of dy * attentionIn),
//   dq = scaleValue * g key,  dk = scaleValue * g^T query,  dpse = scaleValue * g, summed where pseShift is shared.
// Heads of key and value that serve several of query's get the sums over these.
//
// Types: FLOAT, FLOAT16, BF16 from Atlas A2 on; none on other products. attenMask: BOOL, UINT8; dropMask: UINT8; softmax*: FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_H_
#define PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. Computed in FLOAT. Asks for a workspace. What is not named here is as in
// aclnnop/aclnn_flash_attention_score.h.
//   softmaxMaxOptional, softmaxSumOptional, attentionInOptional  what aclnnFlashAttentionScore has written; none may be null
//   dqOut, dkOut, dvOut  results, of the shapes of query, keyIn and value
//   dpseOut              of pseShiftOptional's shape; may be null or empty
// Codes, after those that all operators share, in this order:
//   161001  a tensor that is not optional, attentionInOptional or inputLayout is null (here success is returned when the results are
//           empty)
//   161002  headNum is less than 1; a rank is less than 3; inputLayout is another; a rank or a length of heads does not fit
//   561002  the type is not in the list; keepProb is not in (0, 1]; heads or batches do not fit
//   161001  types differ
//   561002  an optional tensor does not fit; sparseMode is outside 0..6; both tokens are negative
//   161001  softmaxMaxOptional or softmaxSumOptional is null; what belongs to results, or a result, has another shape or type
//   161002  the workspace would have more than 2^62 bytes
// clang-format off
ACLNN_API aclnnStatus aclnnFlashAttentionScoreGradGetWorkspaceSize(const aclTensor* query, const aclTensor* keyIn,
    const aclTensor* value, const aclTensor* dy, const aclTensor* pseShiftOptional, const aclTensor* dropMaskOptional,
    const aclTensor* paddingMaskOptional, const aclTensor* attenMaskOptional, const aclTensor* softmaxMaxOptional,
    const aclTensor* softmaxSumOptional, const aclTensor* softmaxInOptional, const aclTensor* attentionInOptional,
    const aclIntArray* prefixOptional, double scaleValue, double keepProb, int64_t preTokens, int64_t nextTokens,
    int64_t headNum, char* inputLayout, int64_t innerPrecise, int64_t sparseMode, const aclTensor* dqOut,
    const aclTensor* dkOut, const aclTensor* dvOut, const aclTensor* dpseOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFlashAttentionScoreGrad(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

// CANN declares packed sequences here, too.
#include "aclnn_flash_attention_unpadding_score_grad.h"
#include "aclnn_flash_attention_unpadding_score_grad_v4.h"

#endif  // PORTACL_ACLNNOP_ACLNN_FLASH_ATTENTION_SCORE_GRAD_H_
