// Indices as offsets: where each of many leads, on vectors.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/isa.h"

namespace portacl::engine {

// Index e leads to begin + e * along + index * step.
struct IndexRun {
  int64_t wraps;  // what is added to a negative index
  int64_t bound;
  int64_t step;
  int64_t begin;
  int64_t along;
};

// The offsets of n dense indices, or, with `adds`, what is added to the offsets that are there. False where one is not below the bound;
// then what is written is of no meaning.
using FollowIndices = bool (*)(const void* index, size_t n, const IndexRun& run, bool adds, int64_t* offset);

FollowIndices FindFollow(Isa isa, bool is_wide) noexcept;  // INT64, else INT32

}  // namespace portacl::engine
