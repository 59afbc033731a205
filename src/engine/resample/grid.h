// Samples images at coordinates given by another tensor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"
#include "engine/job.h"
#include "engine/resample/grid_job.h"
#include "plan/strided_view.h"

namespace portacl::engine {

struct GridOperands {
  const StridedView* input;  // N, C, H, W
  int input_operand;
  const StridedView* grid;  // N, rows, columns, (x, y)
  int grid_operand;
  const StridedView* output;  // N, C, rows, columns
  int output_operand;
};

// Makes the job: every element of the output is interpolated among the input's at the grid's place, -1 to 1 across each
// dim (docs/numerics.md). One dtype: FLOAT, FLOAT16 or BF16 in float32, DOUBLE in float64, rounded once. No dim is 0. A place
// that is NaN counts as -1.
GridJob MakeGridJob(const GridOperands& operands, GridFilter filter, GridEdge edge, bool aligns_corners,
                    Isa isa, int threads) noexcept;

}  // namespace portacl::engine
