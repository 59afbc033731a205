// Compaction: elements that a mask selects, or that begin a run, are packed one after the other. The inverse
// writes packed elements to the positions where a mask is true.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "base/isa.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// The progress of a function. The caller handles the few remaining elements one by one, because no vector may
// extend beyond its range.
struct Compacted {
  int64_t looked_at;  // elements that were examined, from the first one on
  int64_t packed;     // elements that were packed
};

// Packs those of n elements whose mask byte is not 0; `packed` has room for `room`.
using PackFunction = Compacted (*)(const unsigned char* mask, const char* from, int64_t n, char* packed,
                                   int64_t room);
// Writes `given` packed elements to those of n whose mask byte is not 0; all others keep their values.
using UnpackFunction = Compacted (*)(const unsigned char* mask, const char* packed, int64_t given, char* to,
                                     int64_t n);
// Packs those of n elements that differ from the previous one; from[-1] exists and `packed` has room for
// `room`. 0 equals -0, and NaN equals nothing.
using PackRunsFunction = Compacted (*)(const char* from, int64_t n, char* packed, int64_t room);

// `size` is a power of two from 1 to 16. FindPackRuns supports real numbers except BOOL.
PackFunction FindPack(Isa isa, int32_t size) noexcept;
UnpackFunction FindUnpack(Isa isa, int32_t size) noexcept;
PackRunsFunction FindPackRuns(Isa isa, aclDataType dtype) noexcept;

}  // namespace portacl::engine
