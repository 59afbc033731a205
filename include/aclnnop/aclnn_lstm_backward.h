// aclnnop/aclnn_lstm_backward.h: aclnnLstmBackward, the gradients of aclnnLSTM.
// SPDX-License-Identifier: Apache-2.0
//
// From the gradients of output, hy and cy, and what aclnnLSTM has written with train: those of input, hx and params. Computed in
// float32 whatever the type is; what is written is rounded once.
//
// Types: FLOAT, FLOAT16.
#ifndef PORTACL_ACLNNOP_ACLNN_LSTM_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_LSTM_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Shapes as in aclnnop/aclnn_lstm.h; "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   input, hx, params, batchSizesOptional, hasBias, numLayers, bidirectional, batchFirst  as aclnnLSTM had them
//   dy, dh, dc  gradients of output, hy and cy; null: 0
//   i g f o h c tanhc  what aclnnLSTM has written to its lists, jOut being g
//   dropout, train, outputMask  not looked at
//   dxOut       gradient of input; 0 where batchSizesOptional leaves it out
//   dhPrevOut, dcPrevOut  of hx
//   dparamsOut  of params
// Codes, after those that all operators share, in this order:
//   161001  input, a list, one of its entries or an output is null
//   161002  input's type is not in the list, another tensor's is not input's, or batchSizesOptional's is not INT64
//   161002  numLayers is less than 1; a list has another length; a rank or a shape is another
//   561103  an input is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnLstmBackwardGetWorkspaceSize(const aclTensor* input, const aclTensorList* hx,
    const aclTensorList* params, const aclTensor* dy, const aclTensor* dh, const aclTensor* dc, const aclTensorList* i,
    const aclTensorList* g, const aclTensorList* f, const aclTensorList* o, const aclTensorList* h, const aclTensorList* c,
    const aclTensorList* tanhc, const aclTensor* batchSizesOptional, bool hasBias, int64_t numLayers, double dropout, bool train,
    bool bidirectional, bool batchFirst, const aclBoolArray* outputMask, aclTensor* dxOut, aclTensor* dhPrevOut,
    aclTensor* dcPrevOut, aclTensorList* dparamsOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnLstmBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_LSTM_BACKWARD_H_
