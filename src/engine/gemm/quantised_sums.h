// Float sums of a product as INT8: each column has a scale and an offset, in one 64-bit word (scale_words.h).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Rounds sum * scale + offset, both steps in float32, to the nearest, halfway cases to even, and saturates it. NaN gives
// 0. Steps are in bytes. Trivially copyable.
struct QuantisedSums {
  BufferRef sums;   // FLOAT, rows x columns, dense
  BufferRef words;  // of columns
  int64_t word_step;
  BufferRef to;
  int64_t row_step, column_step;
  int64_t rows, columns;
  int threads;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
