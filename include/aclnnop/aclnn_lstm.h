// aclnnop/aclnn_lstm.h: aclnnLSTM, long short-term memory over sequences.
// SPDX-License-Identifier: Apache-2.0
//
// Of every layer and direction, for each step: i, f, g, o = the four parts of (w_ih x + b_ih) + (w_hh h + b_hh), through sigmoid,
// sigmoid, tanh, sigmoid; c' = f * c + i * g; h' = o * tanh(c'). A further layer's x is h' of the directions, side by side.
// Computed in float32 whatever the type is; what is written is rounded once.
//
// Types: FLOAT, FLOAT16.
#ifndef PORTACL_ACLNNOP_ACLNN_LSTM_H_
#define PORTACL_ACLNNOP_ACLNN_LSTM_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// L layers, D directions, T steps, a batch of B, H hidden numbers. "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   input       [T, B, in], with batchFirst [B, T, in]; with batchSizes [T * B, in]
//   params      of each layer and then direction: w_ih [4H, in or D * H], w_hh [4H, H] and, with hasBias, b_ih [4H], b_hh [4H]
//   hx          h and c before the first step, [L * D, B, H] each; null or empty: 0
//   batchSizes  null, or INT64 [T]: for how many of the batch each step is, not more than the one before; output is 0 for the others
//   dropout     not looked at
//   train       whether lists are written; else they are not looked at
//   output      [T, B, D * H], with batchFirst and without batchSizes [B, T, D * H]
//   hy, cy      h and c after the last step, [L * D, B, H]
//   iOut jOut fOut oOut hOut cOut tanhCOut  i, g, f, o, h, c and tanh(c) of each step: L * D tensors [T, B, H]
// Codes, after those that all operators share, in this order:
//   161001  input, params, one of its entries, output, hy or cy is null; with train, a list or an entry of it
//   161002  input's type is not in the list, another tensor's is not input's, or batchSizes' is not INT64
//   161002  numLayers is less than 1; a list has another length; a rank or a shape is another
//   561103  an input is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnLSTMGetWorkspaceSize(const aclTensor* input, const aclTensorList* params, const aclTensorList* hx,
    const aclTensor* batchSizes, bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirectional, bool batchFirst,
    aclTensor* output, aclTensor* hy, aclTensor* cy, aclTensorList* iOut, aclTensorList* jOut, aclTensorList* fOut,
    aclTensorList* oOut, aclTensorList* hOut, aclTensorList* cOut, aclTensorList* tanhCOut, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLSTM(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LSTM_H_
