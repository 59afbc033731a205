// repeat_interleave with a tensor of counts: for each element of the result, the source element.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it.
struct RepeatInterleave {
  const char* name;  // of the tensor of counts
  BufferRef counts;
  int64_t stride;  // in bytes; 0: one count for all elements
  bool is_wide;    // INT64, else INT32
  int64_t elements;
  BufferRef offsets;  // an int64 for each element of the result: step times the source index, or `missing`
  int64_t length;     // of the result, whatever the counts add up to
  int64_t step;
  int64_t missing;
  BufferRef sums;  // an int64 for each block of elements
  int threads;
  bool raises;  // negative counts, or a sum other than length, fail the stream

  // A negative count counts as 0. Elements beyond the length are dropped.
  void Run(const JobContext& context) const noexcept;
};

// Returns the number of sums for `elements` elements.
int64_t RepeatInterleaveBlocks(int64_t elements) noexcept;

}  // namespace portacl::engine
