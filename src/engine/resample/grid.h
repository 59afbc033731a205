// Samples images and volumes at coordinates given by another tensor, and computes the gradients.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/isa.h"
#include "engine/job.h"
#include "engine/resample/grid_job.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// Images are of 4 dims, volumes of 5.
struct GridOperands {
  const StridedView* input;  // N, C, H, W or N, C, D, H, W
  int input_operand;
  const StridedView* grid;  // N, rows, columns, (x, y) or N, planes, rows, columns, (x, y, z)
  int grid_operand;
  const StridedView* output;  // N, C, rows, columns or N, C, planes, rows, columns
  int output_operand;
};

struct GridRules {
  GridFilter filter;
  GridEdge edge;
  bool aligns_corners;
};

// Makes the job. It interpolates every element of the output at the coordinates that the grid gives, -1 to 1 across each
// dim of the input (docs/numerics.md). All have one dtype: FLOAT, FLOAT16 or BF16, computed in float32, or DOUBLE, and are
// rounded once. No dim is 0. A coordinate that is NaN counts as -1. Volumes and DOUBLE have no cubic filter.
GridJob MakeGridJob(const GridOperands& operands, const GridRules& rules, Isa isa, int threads) noexcept;

// The gradients, of the shapes of input and grid. One that is null is not computed.
struct GridGradients {
  const StridedView* input;
  int input_operand;
  const StridedView* grid;
  int grid_operand;
};

// Makes the job of the gradients. operands.output is the gradient of the output. An element of the input's gradient is the
// sum of weight * gradient over the points that use it as a tap, from +0 on, in their order. A coordinate's gradient is the sum
// over channels of gradient * (the sum over taps of element * the derivative of the tap's weight). Types are as for sampling.
GridGradientJob MakeGridGradientJob(const GridOperands& operands, const GridGradients& gradients,
                                    const GridRules& rules, Isa isa, int threads) noexcept;

}  // namespace portacl::engine
