// aclnnop/aclnn_nll_loss2d.h: aclnnNLLLoss2d, the negative log likelihood of named classes of images.
// SPDX-License-Identifier: Apache-2.0
//
// The loss of a row: -weight[t] * self[n, t], t its target; 0 where that is ignoreIndex. none: out gets each; sum: their sum; mean: their sum
// divided by totalWeight, the sum of weight[t] of the others (NaN where there is none).
//
// Types: FLOAT, FLOAT16; BF16 on newer products; weight: self's; target: INT64, INT32 or UINT8; out, totalWeightOut: any to which self's can be
// cast.
#ifndef PORTACL_ACLNNOP_ACLNN_NLL_LOSS2D_H_
#define PORTACL_ACLNNOP_ACLNN_NLL_LOSS2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Terms are FLOAT; sums and the quotient float64's, rounded once.
//   self         [N, C, H, W]: logarithms of probabilities
//   target       [N, H, W]
//   weight       [C]
//   reduction    0 none, 1 mean, 2 sum
//   ignoreIndex  a target whose row does not count. Other targets outside of 0 to C - 1 count neither, and fail the stream (507015)
//   out          target's shape for none, else one element;  totalWeightOut  one element; not written for none
// Codes, after those that all operators share, in this order:
//   161001  a tensor is null
//   161002  self's type is not in the list; weight's differs; self's cannot be cast to out's or totalWeightOut's
//   161002  target's type is not in its list; reduction is not 0, 1 or 2; a shape is another; no classes where there is a target
//           (here success is returned when self is empty and reduction is none)
//   561103  out's or totalWeightOut's type is none that numbers are converted to
// clang-format off
ACLNN_API aclnnStatus aclnnNLLLoss2dGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
    const aclTensor* weight, int64_t reduction, int64_t ignoreIndex, aclTensor* out, aclTensor* totalWeightOut,
    uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnNLLLoss2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_NLL_LOSS2D_H_
