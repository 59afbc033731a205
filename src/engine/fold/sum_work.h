// What a formula's sum kernel is given: where the terms come from, and which float64 sums take them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "engine/map/formula.h"

namespace portacl::engine {

// Float64 sums to which the terms of a block go in turn (docs/numerics.md).
inline constexpr size_t kLanes = 16;

// The terms are f(element i of in[0], ...); input k's elements are step[k] bytes apart, which is the size of one, or
// 0 for one value that is repeated over kRepeated elements (as f32 where a kernel is mixed). With `rows` the terms come
// in that many rows, row r of input k at in[k] + r * row_stride[k] bytes.
struct SumWork {
  enum class Order : uint8_t { kByLane, kByRow };

  Order order;
  const void* in[kMaxInputs];
  size_t step[kMaxInputs];

  // kByLane: `n` terms, one after the other, belong to stretches of `length` terms, each cut into blocks of
  // kLaneBlock. The first of them is term `at` of its stretch; the block that it lies in has so far the sums
  // `lanes`, kLanes of them, if it has any. Each block that ends gives its sum to *sums++; `lanes` and `at`
  // are left as the next piece needs them.
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
