// aclnnop/aclnn_multilabel_margin_loss.h: aclnnMultilabelMarginLoss, the loss of rows with several labels that are to be 1 above other classes.
// SPDX-License-Identifier: Apache-2.0
//
// The loss of a row: the sum over its labels j and the classes i that are none of max(0, 1 - (self[j] - self[i])), divided by C. none: out gets
// each; mean: their sum divided by N; sum: their sum. A label counts as often as it is there.
//
// Types: FLOAT, FLOAT16; BF16 on newer products; target: INT64 or INT32; out, isTarget: self's.
#ifndef PORTACL_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_H_
#define PORTACL_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Rows" in aclnnop/aclnn_util.h. Computed in float64, rounded once; a pair with a NaN adds nothing.
//   self       [N, C], [C] or []; C is not 0
//   target     self's shape, or as many elements in 0 or 1 dims: a row's labels, up to the first -1. Others outside of 0 to C - 1 do not count,
//              and fail the stream (507015) but on Ascend 950, which skips them
//   reduction  0 none, 1 mean, all others: sum
//   out        [N] for none and two dims, else one element;  isTarget  target's shape: 1 where a class is a label, else 0
// Codes, after those that all operators share, in this order:
//   161001  a tensor is null
//   161002  self's type is not in the list; target's is not; out's or isTarget's is not self's; a shape is another
//           (here success is returned when self is empty; nothing is written)
//   161002  the workspace for so many rows and classes would have more than 2^63 bytes
// clang-format off
ACLNN_API aclnnStatus aclnnMultilabelMarginLossGetWorkspaceSize(const aclTensor* self, const aclTensor* target,
    int64_t reduction, aclTensor* out, aclTensor* isTarget, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnMultilabelMarginLoss(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
    aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_MULTILABEL_MARGIN_LOSS_H_
