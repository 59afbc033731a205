// aclnnop/aclnn_grid_sampler2d.h: aclnnGridSampler2D, images sampled at the places of a grid.
// SPDX-License-Identifier: Apache-2.0
//
// out[n][c][y][x] is what input[n][c] has at the column grid[n][y][x][0] and the row grid[n][y][x][1]. Coordinates go from -1 to 1: with
// alignCorners from the first element to the last, (g + 1) / 2 * (W - 1), else from edge to edge, ((g + 1) * W - 1) / 2. NaN counts as -1.
// interpolationMode  0 linear between the four neighbours; 1 the nearest, halves to even; 2 cubic (as aclnnUpsampleBicubic2d)
// paddingMode        what lies outside: 0 zeros; 1 the border; 2 the image mirrored, by elements with alignCorners, else at its edge
// Float32, rounded once; float64 for float64.
//
// Types: float32, float16, float64, BF16 (not on Atlas inference).
#ifndef PORTACL_ACLNNOP_ACLNN_GRID_SAMPLER2D_H_
#define PORTACL_ACLNNOP_ACLNN_GRID_SAMPLER2D_H_

#include "aclnn/aclnn_base.h"
#include "aclnn_util.h"

#ifdef __cplusplus
extern "C" {
#endif

// "The two phases" in aclnnop/aclnn_util.h.
//   input  images: N, C, H, W
//   grid   places: N, rows, columns, 2
//   interpolationMode, paddingMode, alignCorners  see above
//   out    result: N, C, rows, columns
// Codes, after those that all operators share, in this order:
//   161001  input, grid or out is null
//   161002  input's type is not in the list, or grid's or out's is not input's
//   161002  a mode is outside 0 to 2; cubic of float64, or on products before Atlas A2
//   161002  a tensor does not have 4 dims; grid has other images than input, or out's shape is not the result's
//   161002  input has no rows or columns; grid's last dim is not 2
//           (here success is returned when input or grid is empty)
// clang-format off
ACLNN_API aclnnStatus aclnnGridSampler2DGetWorkspaceSize(const aclTensor* input, const aclTensor* grid, int64_t
    interpolationMode, int64_t paddingMode, bool alignCorners, aclTensor* out, uint64_t* workspaceSize,
    aclOpExecutor** executor);
ACLNN_API aclnnStatus aclnnGridSampler2D(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor, aclrtStream stream);
// clang-format on

#ifdef __cplusplus
}
#endif

#endif  // PORTACL_ACLNNOP_ACLNN_GRID_SAMPLER2D_H_
