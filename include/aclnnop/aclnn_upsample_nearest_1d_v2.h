// aclnnop/aclnn_upsample_nearest_1d_v2.h: aclnnUpsampleNearest1dV2, sequences resized by the nearest element, by a scale.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][x] = self[n][c][min(floor(x * r), L - 1)], in float32; r is 1 if the lengths are the same, else 1 / scaleL if that is greater
// than 0, else L divided by out's length.
//
// Types: float32, float16, float64, uint8; BF16 on newer products.
// Float64, uint8 and the oldest products (Atlas training, Atlas 200I/500 A2) take no scale.
#ifndef PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_1D_V2_H_
#define PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_1D_V2_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" and "Movements" in aclnnop/aclnn_util.h.
//   self        sequences: N, C, L
//   outputSize  out's length
//   scaleL      how many elements of out there are for one of self; 0 or less: as the lengths say
//   out         result, of self's type
// Codes, after those that all operators share, in this order:
//   161001  self, outputSize or out is null
//   161002  self's type is not in the list, or out's is not self's
//   161002  outputSize is empty; self does not have 3 dims, or one besides the first is 0
//   161002  out's last dim is not outputSize
//   161002  outputSize is 0; a format is not NCL
//           (here success is returned when self or out is empty)
//   561103  out's shape is not the result's
// clang-format off
ACLNN_API aclnnStatus aclnnUpsampleNearest1dV2GetWorkspaceSize(const aclTensor* self, const aclIntArray* outputSize,
    float scaleL, aclTensor* out, uint64_t* workspaceSize, aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnUpsampleNearest1dV2(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_UPSAMPLE_NEAREST_1D_V2_H_
