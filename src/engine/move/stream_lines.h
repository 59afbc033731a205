// Writes whole cache lines past the caches with the widest vectors. A line that is written at once is never
// sent in parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// Copies whole cache lines; the destination begins with one. Prefetches `ahead` bytes from each, which need
// not be readable; kNothingAhead prefetches nothing.
using LineCopy = void (*)(const char* source, char* destination, int64_t bytes, int64_t ahead);
inline constexpr int64_t kNothingAhead = INT64_MIN;

// Rows and columns of elements of whole cache lines, aligned to them. The rows of a column are copied one
// after the other.
struct Runs {
  const char* source;
  int64_t from_row;
  int64_t from_column;
  char* destination;
  int64_t to_row;
  int64_t to_column;
  int64_t rows;
  int64_t columns;
  int64_t bytes;
};
using RunCopy = void (*)(const Runs& runs, int64_t ahead);

// Return nullptr if an instruction set has no vectors wider than every machine's, or no streaming stores.
LineCopy FindLineCopy(Isa isa) noexcept;
RunCopy FindRunCopy(Isa isa) noexcept;

}  // namespace portacl::engine
