// Elements that are chosen - by a mask, or since a run begins with them - packed one behind the other, and packed elements put back to
// where a mask is true.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/isa.h"
#include "plan/strided_view.h"

namespace portacl::engine {

// How far a function came. It leaves the rest, as little as it likes, to a loop over single elements: no vector goes beyond what it
// is given.
struct Chosen {
  int64_t looked_at;  // elements, from the first one on
  int64_t packed;     // of these
};

// From n elements to at most `room`: those whose byte of the mask is not 0.
using PackFunction = Chosen (*)(const unsigned char* mask, const char* from, int64_t n, char* packed,
                                int64_t room);
// `given` elements to those of n whose byte is not 0; all others stay.
using UnpackFunction = Chosen (*)(const unsigned char* mask, const char* packed, int64_t given, char* to,
                                  int64_t n);
// From n elements, before which there is one more, to at most `room`: those that are not equal to the one before. 0 equals -0, and NaN
// nothing.
using PackRunsFunction = Chosen (*)(const char* from, int64_t n, char* packed, int64_t room);

// `size`: 1 to 16, a power of two. PackRuns is there for real numbers but BOOL.
PackFunction FindPack(Isa isa, int32_t size) noexcept;
UnpackFunction FindUnpack(Isa isa, int32_t size) noexcept;
PackRunsFunction FindPackRuns(Isa isa, aclDataType dtype) noexcept;

}  // namespace portacl::engine
