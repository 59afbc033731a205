// aclnnop/aclnn_fused_infer_attention_score.h: aclnnFusedInferAttentionScore, attention of sequences with caches.
// SPDX-License-Identifier: Apache-2.0
//
// attentionOut = softmax(scaleValue * query key^T + pseShift) value, for each batch and head. Hidden keys have the weight 0, a query that sees
// none, or that its batch has not, is a row of 0. softmaxLse: the logarithm of each row's sum of exponentials, -infinity for those.
// docs/numerics.md has the order of the sums.
//
// Types: FLOAT16, BF16 on Atlas A2 and A3; none on other products. key, value, pseShift, attentionOut: query's. attenMask: BOOL, INT8,
// UINT8; blockTable: INT32; softmaxLse: FLOAT.
#ifndef PORTACL_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_H_
#define PORTACL_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h. Computed in FLOAT. Asks for a workspace.
//   query, key, value   inputLayout "BSH", "BSND", "BNSD" or "TND", or two of these, the second that of attentionOut: "BNSD_BSND", "NTD_TND",
//                       "TND_NTD", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"; key and value are lists of one tensor
//   actualSeqLengths    rows of each batch, or one number for all; null: all. In TND their sums up to each batch
//   actualSeqLengthsKv  the same of keys; with blockTable always rows of each batch
//   blockTable          [batches, blocks of each]: row t of a batch is row t % blockSize of the block that entry t / blockSize names. key and
//                       value are then [blocks, blockSize, N*D] or [blocks, N, blockSize, D]
//   pseShift            [B or 1, N, at least Sq, at least Skv], or null
//   attenMask           what is not 0 hides a key: [at least Sq, at least Skv], dims [B or 1] or [B or 1, 1] before; in the modes 2 to 4
//                       [2048, 2048], not read. One query of each batch, but in TND: [B, Skv], whatever the mode
//   sparseMode          as aclnnFlashAttentionScore's 0 to 4, by each batch's own lengths
//   numKeyValueHeads    0: numHeads;  blockSize: the rows of a block
//   innerPrecise, antiquantMode  are not used. Tensors that are not named here must be null
// Codes, after those that all operators share, in this order:
//   161001  query, key, value, inputLayout, attentionOut or, if it is wanted, softmaxLse is null
//   161002  a type is not in the list or does not go with query's
//   561103  a tensor is given that portacl does not compute with (here success is returned when query is empty)
//   561002  a layout, rank, shape, length or mode does not fit
// Phase 2: a block that is not there fails the stream with 507015, and nothing is written.
// clang-format off
ACLNN_API aclnnStatus aclnnFusedInferAttentionScoreGetWorkspaceSize(const aclTensor* query, const aclTensorList* key,
    const aclTensorList* value, const aclTensor* pseShift, const aclTensor* attenMask, const aclIntArray*
    actualSeqLengths, const aclIntArray* actualSeqLengthsKv, const aclTensor* deqScale1, const aclTensor* quantScale1,
    const aclTensor* deqScale2, const aclTensor* quantScale2, const aclTensor* quantOffset2, const aclTensor*
    antiquantScale, const aclTensor* antiquantOffset, const aclTensor* blockTable, const aclTensor* queryPaddingSize,
    const aclTensor* kvPaddingSize, int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens, char*
    inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise, int64_t blockSize, int64_t
    antiquantMode, bool softmaxLseFlag, const aclTensor* attentionOut, const aclTensor* softmaxLse, uint64_t*
    workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnFusedInferAttentionScore(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_FUSED_INFER_ATTENTION_SCORE_H_
