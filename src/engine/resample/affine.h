// Makes the grid of an affine map: what sampling by it (grid.h) takes from where.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "engine/conversions.h"
#include "engine/job.h"
#include "plan/strided_view.h"

namespace portacl::engine {

struct AffineJob {
  int8_t maps;
  int8_t grid;
  int8_t axes;  // 2 or 3
  bool aligns_corners;
  int threads;
  int64_t extent[4];  // maps, planes, rows, columns of points
  // Offsets and strides in bytes.
  int64_t map_offset;
  int64_t map_stride[3];
  int64_t grid_offset;
  int64_t grid_stride[5];  // of maps, planes, rows, columns, coordinates
  LoadFunction load;       // nullptr if nothing is converted
  StoreFunction store;

  bool Touches(int operand) const noexcept { return operand == maps || operand == grid; }
  int64_t Elements() const noexcept { return extent[0] * extent[1] * extent[2] * extent[3] * axes; }
  void Run(const JobContext& context) const noexcept;
};

// Makes the job. `maps` is [N, 2, 3] and `grid` [N, rows, columns, 2], or [N, 3, 4] and [N, planes, rows, columns, 3]: coordinate i of a
// point (x, y) is the float32 sum m[i][0] * x + m[i][1] * y + m[i][2], in this order, of rounded products; of (x, y, z) likewise. Point k of n
// along an axis is at (2 * k - (n - 1)) / n, or by the corners / (n - 1), rounded once; 0 where there is one. FLOAT, FLOAT16 or
// BF16, rounded once. No dim is 0.
AffineJob MakeAffineJob(const StridedView& maps, int map_operand, const StridedView& grid, int grid_operand,
                        bool aligns_corners, Isa isa, int threads) noexcept;

}  // namespace portacl::engine
