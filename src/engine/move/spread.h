// Elements that are there as often as a tensor of counts says: for each element of the result, which one it is.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/place.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it.
struct Spread {
  const char* name;  // of the tensor of counts
  Place counts;
  int64_t stride;  // in bytes; 0: one count for all elements
  bool is_wide;    // INT64, else INT32
  int64_t elements;
  Place places;    // an int64 for each element of the result: step times its number, or `missing`
  int64_t length;  // of the result, whatever the counts add up to
  int64_t step;
  int64_t missing;
  Place sums;  // an int64 for each block of elements
  int threads;
  bool raises;  // counts that are negative, or do not add up to length, fail the stream

  // A negative count is none. What is beyond the length is left out.
  void Run(const JobContext& context) const noexcept;
};

// How many sums so many elements need.
int64_t SpreadBlocks(int64_t elements) noexcept;

}  // namespace portacl::engine
