// Histograms: counts of integers, optionally with weights, or of numbers in bins of equal width.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"
#include "engine/move/conversion.h"
#include "engine/strided.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it.
struct Histogram {
  enum class Kind : uint8_t {
    kIntegers,  // converted to INT64: number i belongs to bin i; others are bad
    kInteger,   // INT64 in bins of equal width; numbers outside the bounds are not counted
    kFloat      // likewise in float32
  };
  // A tensor of one dim, dense or with a step, converted to another dtype in tiles.
  struct Stream {
    BufferRef buffer;
    int64_t step;  // in bytes
    const Conversion* conversion;
  };
  Kind kind;
  bool is_weighed;       // sums of weights, in their order; else counts
  bool is_weight_float;  // sums are FLOAT, else DOUBLE; counts are INT64
  bool raises;           // a bad integer fails the stream; it is skipped in any case
  // The bounds are the extremes of the numbers, ignoring NaN; equal ones are widened by one.
  bool finds_bounds;
  const char* name;  // of the integers
  int64_t count;
  int64_t bins;
  Stream numbers;
  Stream weights;
  float low;
  float high;
  int64_t integer_low;
  int64_t integer_high;
  GatherFunction gather;
  BufferRef sums;  // HistogramMemory bytes, which begin with the bins
  int threads;

  void Run(const JobContext& context) const noexcept;
};

int64_t HistogramMemory(const Histogram& histogram) noexcept;

}  // namespace portacl::engine
