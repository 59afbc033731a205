// aclnnop/aclnn_circular_pad2d.h: aclnnCircularPad2d, a tensor surrounded by itself.
// SPDX-License-Identifier: Apache-2.0
//
// padding has two lengths for each of the last two dims, the last one's first: how many elements come before and behind. Beyond an edge
// the elements of the other side follow, as often as it takes. Negative ones cut off.
//
// Types: float32, float16, BF16, int32, int8.
#ifndef PORTACL_ACLNNOP_ACLNN_CIRCULAR_PAD2D_H_
#define PORTACL_ACLNNOP_ACLNN_CIRCULAR_PAD2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self     tensor of 3 or 4 dims
//   padding  4 lengths
//   out      result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, padding or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  a format is a private one, or out's is not self's
//   161002  self does not have 3 or 4 dims, out has another rank, or padding does not have 4 values
//   161002  more is cut off than there is
//   161002  out's shape is not the result's
//   161002  self or out is empty and has no batch, or a dim besides the batch is 0
//           (here success is returned when self or out is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnCircularPad2dGetWorkspaceSize(const aclTensor* self, const aclIntArray* padding, aclTensor*
    out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnCircularPad2d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_CIRCULAR_PAD2D_H_
