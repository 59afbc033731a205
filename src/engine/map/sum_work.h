// The work of a formula's sum kernel: its terms, and the float64 sums that take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/map/formula.h"

namespace portacl::engine {

// The float64 sums of a block; consecutive terms go to consecutive lanes (docs/numerics.md).
inline constexpr size_t kLanes = 16;

// The terms are f(element i of in[0], ...). Input k's elements are step[k] bytes apart: the element size, or
// 0 for one value that is repeated over kRepeated elements (as f32 in a mixed kernel). Row r of input k is at
// in[k] + r * row_stride[k] bytes.
struct SumWork {
  enum class Order : uint8_t { kByLane, kByRow };

  Order order;
  const void* in[kMaxInputs];
  size_t step[kMaxInputs];

  // kByLane: `n` consecutive terms belong to sums of `length` terms, each cut into blocks of kLaneBlock. The
  // first one is term `at` of its sum, and `lanes` holds the kLanes partial sums of its block, if it has any.
  // Each block that ends writes its sum to *sums++. `lanes` and `at` are left as the next call needs them.
  //
  // kByRow: sums[i] += row 0's term i, then row 1's, ..., i in [0, n).
  size_t n;
  double* sums;

  size_t length;
  size_t at;
  double* lanes;

  size_t rows;
  bool from_memory;  // the inputs fit no cache
  int64_t row_stride[kMaxInputs];
};

}  // namespace portacl::engine
