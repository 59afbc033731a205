// Converts many indices to byte offsets, with vectors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/isa.h"

namespace portacl::engine {

// The offset of index e is begin + e * along + index * step.
struct IndexRun {
  int64_t wraps;  // added to a negative index
  int64_t bound;
  int64_t step;
  int64_t begin;
  int64_t along;
};

// Writes the offsets of n dense indices, or adds to existing offsets with `adds`. Returns false if an index
// is out of bounds; the output is then unspecified.
using FollowIndices = bool (*)(const void* index, size_t n, const IndexRun& run, bool adds, int64_t* offset);

FollowIndices FindFollow(Isa isa, bool is_wide) noexcept;  // INT64, else INT32

}  // namespace portacl::engine
