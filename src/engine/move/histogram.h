// How often numbers are there: each integer by itself, maybe with weights, or numbers in bins of one width.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/move/conversion.h"
#include "engine/place.h"
#include "engine/strided.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it.
struct Histogram {
  enum class Kind : uint8_t {
    kIntegers,  // converted to INT64: number i belongs to bin i. Others are bad
    kInteger,   // the same in bins of one width; what is outside the bounds belongs to none
    kFloat      // in float32
  };
  // A dense tensor of one dim, or one with a step, in tiles of another dtype.
  struct Stream {
    Place place;
    int64_t step;  // in bytes
    const Conversion* conversion;
  };
  Kind kind;
  bool is_weighed;       // sums of weights, in their order; else counts
  bool is_weight_float;  // sums are FLOAT, else DOUBLE; counts are INT64
  bool raises;           // a bad integer fails the stream; it is left out anyway
  bool finds_bounds;     // those of the numbers, NaN left out; where they are equal, one less and one more
  const char* name;      // of the integers
  int64_t count;
  int64_t bins;
  Stream numbers;
  Stream weights;
  float low;
  float high;
  int64_t integer_low;
  int64_t integer_high;
  GatherFunction gather;
  Place sums;  // HistogramMemory bytes, of which the first are the bins
  int threads;

  void Run(const JobContext& context) const noexcept;
};

int64_t HistogramMemory(const Histogram& histogram) noexcept;

}  // namespace portacl::engine
