// Samples images at coordinates given by another tensor.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/isa.h"
#include "aclnn/executor.h"
#include "aclnn/tensor.h"
#include "engine/resample/grid_job.h"

namespace portacl::engine {

struct GridOperands {
  const aclTensor* input;  // N, C, H, W
  int input_operand;
  const aclTensor* grid;  // N, rows, columns, (x, y)
  int grid_operand;
  const aclTensor* output;  // N, C, rows, columns
  int output_operand;
};

// Sets the executor's job: every element of the output is interpolated among the input's at the grid's place, -1 to 1 across each
// dim (docs/numerics.md). One dtype: FLOAT, FLOAT16 or BF16 in float32, DOUBLE in float64, rounded once. No dim is 0. A place
// that is NaN counts as -1.
void SetGridJob(Executor& executor, const GridOperands& operands, GridFilter filter, GridEdge edge,
                bool aligns_corners, Isa isa, int threads) noexcept;

}  // namespace portacl::engine
