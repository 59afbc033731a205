// aclnnop/aclnn_upsample_nearest_1d.h: aclnnUpsampleNearest1d, sequences resized by the nearest element.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][x] = self[n][c][min(floor(x * r), L - 1)], in float32; r is L divided by out's length.
//
// Types: float32, float16, float64, uint8; BF16 on newer products.
#ifndef PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_1D_H_
#define PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_1D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self        sequences: N, C, L
//   outputSize  out's length
//   out         result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, outputSize or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  outputSize is empty; self does not have 3 dims, or one besides the first is 0
//   161002  outputSize is 0; a format is not NCL
//           (here success is returned when self or out is empty)
//   561103  out's shape is not the result's
// clang-format off
ACLNN_API aclnnStatus aclnnUpsampleNearest1dGetWorkspaceSize(const aclTensor* self, const aclIntArray* outputSize,
    aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUpsampleNearest1d(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_1D_H_
