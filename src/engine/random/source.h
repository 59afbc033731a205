// The source of random numbers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Philox4x32-10 with the seed as its key. A counter has the offset in its low 64 bits and e / 4 in the high
// ones. Element e is word e mod 4 of the four blocks with counters from offset to offset + 3. These are 128
// bits, of which most numbers use the first 32. Calls whose offsets are four apart share no bits, whatever
// their sizes.
struct RandomSource {
  uint64_t seed;
  uint64_t offset;
};

}  // namespace portacl::engine
