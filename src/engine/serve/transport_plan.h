// Sinkhorn's plan of transport, from the costs of rows and columns.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/route/class_part.h"
#include "engine/route/route.h"

namespace portacl::engine {

// With K = exp(cost), repeats d0[r] = 1 / (rows * (sum of d1[c] * K[r][c] + 1e-8)) and d1[c] = 1 / (columns * (sum of
// d0[r] * K[r][c] + 1e-8)), from d0 = d1 = 1 on, while the mean of |d1 - d1 before|, at first 1e9, is above the
// tolerance, but at most kMostRounds times. Then to = d1[c] * K[r][c] * d0[r]. K, d0 and d1 are float32, sums float64. A listed op
// (OpList::Compute) with dense operands, trivially copyable.
struct PlanTransport {
  static constexpr int kMostRounds = 10000;

  NumberRows cost;
  NumberRows to;
  BufferRef powers;       // FLOAT, rows x columns: written
  BufferRef of_rows;      // FLOAT, rows: written
  BufferRef of_columns;   // FLOAT, columns: written
  BufferRef differences;  // float64, columns: written
  int64_t rows, columns;
  double tolerance;
  ExponentialsFunction exponentials;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
