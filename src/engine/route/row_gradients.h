// Gradients of rows that are scaled and shifted by one row of each batch. A listed op (OpList::Compute) with dense
// operands, trivially copyable.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/route/route.h"

namespace portacl::engine {

// Computes over batches x rows x columns: to_input is gradient * scale, in float32. to_scale is the sum over the rows of gradient *
// input, and to_shift the sum of gradient: in float64 in the rows' order, rounded to float32 and to the type.
struct ScaledRowGradients {
  NumberRows gradient, input;
  NumberRows scale;  // batches x columns, like the two sums
  NumberRows to_input, to_scale, to_shift;
  int64_t batches, rows, columns;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
