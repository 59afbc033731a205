// Whole lines of the caches written past them by the widest vectors: a line that is written in one piece is never sent on in parts.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"

namespace portacl::engine {

// Copies bytes to where a line begins, whole lines of them. What is `ahead` bytes from each is asked for with it, and need not be
// readable; kNothingAhead: nothing is.
using LineCopy = void (*)(const char* source, char* destination, int64_t bytes, int64_t ahead);
inline constexpr int64_t kNothingAhead = INT64_MIN;

// Rows and columns of runs of so many bytes, all of them whole lines where lines begin; a column's runs one after the other.
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

// nullptr where an instruction set has no wider vectors than every machine, or nothing that goes past the caches.
LineCopy FindLineCopy(Isa isa) noexcept;
RunCopy FindRunCopy(Isa isa) noexcept;

}  // namespace portacl::engine
