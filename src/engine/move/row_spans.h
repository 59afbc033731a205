// Spans of rows: a start for each row, or a start and a length, as the positions of its steps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Trivially copyable, so that a job can hold it. A row whose span is bad, or that the mask leaves out, has no positions.
struct RowSpans {
  static constexpr int64_t kNoPosition = -1;

  const char* name;     // of the parameter with the spans
  BufferRef spans;      // INT64: rows of a start, or of a start and a length
  BufferRef mask;       // INT64, one for each row: only rows with a 1 are wanted
  BufferRef positions;  // INT64, rows x steps, written
  bool has_lengths;     // else every length is `steps`
  bool is_masked;
  bool raises;  // a bad span fails the stream
  int64_t rows;
  int64_t steps;  // no length is above it
  int64_t bound;  // no position reaches it

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
