// aclnnop/aclnn_gru_backward.h: aclnnGRUBackward, the gradients of aclnnGRU.
// SPDX-License-Identifier: Apache-2.0
//
// From the gradients of output and hy, and what aclnnGRU has written with train: those of input, hx and params. Computed in
// float32 whatever the type is; what is written is rounded once.
//
// Types: FLOAT, FLOAT16; on Atlas A2 and A3 alone.
#ifndef PORTACL_ACLNNOP_ACLNN_GRU_BACKWARD_H_
#define PORTACL_ACLNNOP_ACLNN_GRU_BACKWARD_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// Shapes as in aclnnop/aclnn_gru.h; "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   input, params, hasBias, numLayers, bidirection, batchFirst  as aclnnGRU had them
//   hx          as aclnnGRU had it; where that was null, zeros
//   dy, dh      gradients of output and hy
//   r z n hn h  what aclnnGRU has written to its lists
//   batchSizes  null
//   dxOut, dhPrevOut, dparamsOut  gradients of input, hx and params
// Codes, after those that all operators share, in this order:
//   161001  a tensor but batchSizes, a list or one of its entries is null
//   161002  input's type is not in the list, another tensor's is not input's, or batchSizes is not null
//   161002  numLayers is less than 1; a list has another length; a rank or a shape is another
//   561103  an input is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnGRUBackwardGetWorkspaceSize(const aclTensor* input, const aclTensorList* params, const aclTensor* hx,
    const aclTensor* dy, const aclTensor* dh, const aclTensorList* r, const aclTensorList* z, const aclTensorList* n,
    const aclTensorList* hn, const aclTensorList* h, const aclTensor* batchSizes, bool hasBias, int64_t numLayers,
    bool bidirection, bool batchFirst, aclTensor* dxOut, aclTensor* dhPrevOut, aclTensorList* dparamsOut,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGRUBackward(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GRU_BACKWARD_H_
