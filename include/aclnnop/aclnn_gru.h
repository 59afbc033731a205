// aclnnop/aclnn_gru.h: aclnnGRU, gated recurrent units over sequences.
// SPDX-License-Identifier: Apache-2.0
//
// Of every layer and direction, for each step, of the parts r, z, n of x' = w_ih x + b_ih and h'' = w_hh h + b_hh:
// r, z = sigmoid of the sums of both; hn = the third part of h''; n = tanh(that of x' + r * hn); h' = (h - n) * z + n. A further
// layer's x is h' of the directions, side by side. Computed in float32 whatever the type is; what is written is rounded once.
//
// Types: FLOAT, FLOAT16; on Atlas A2 and A3 alone.
#ifndef PORTACL_ACLNNOP_ACLNN_GRU_H_
#define PORTACL_ACLNNOP_ACLNN_GRU_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// L layers, D directions, T steps, a batch of B, H hidden numbers. "The two phases" and "Lists" in aclnnop/aclnn_util.h.
//   input       [T, B, in], with batchFirst [B, T, in]
//   params      of each layer and then direction: w_ih [3H, in or D * H], w_hh [3H, H] and, with hasBias, b_ih [3H], b_hh [3H]
//   hx          h before the first step, [L * D, B, H]; null: 0
//   batchSizes  null: there are no packed sequences
//   dropout     not looked at
//   train       whether lists are written; else they are not looked at
//   output      [T, B, D * H], with batchFirst [B, T, D * H]
//   hy          h after the last step, [L * D, B, H]
//   rOut zOut nOut hnOut hOut  r, z, n, hn and h' of each step: L * D tensors [T, B, H]
// Codes, after those that all operators share, in this order:
//   161001  input, params, one of its entries, output or hy is null; with train, a list or an entry of it
//   161002  input's type is not in the list, another tensor's is not input's, or batchSizes is not null
//   161002  numLayers is less than 1; a list has another length; a rank or a shape is another
//   561103  an input is not dense and reaches outside its storage
// clang-format off
ACLNN_API aclnnStatus aclnnGRUGetWorkspaceSize(const aclTensor* input, const aclTensorList* params, const aclTensor* hx,
    const aclTensor* batchSizes, bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirection, bool batchFirst,
    aclTensor* output, aclTensor* hy, aclTensorList* rOut, aclTensorList* zOut, aclTensorList* nOut, aclTensorList* hnOut,
    aclTensorList* hOut, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGRU(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GRU_H_
