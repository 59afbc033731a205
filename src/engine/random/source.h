// What random numbers are made from.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Philox4x32-10's key is the seed. Element e has word e mod 4 of each of the blocks whose counters are offset, offset + 1, offset
// + 2 and offset + 3 in the low 64 bits and e / 4 in the high ones: 128 bits, of which most numbers take the first 32. So calls whose
// offsets are four apart share none, whatever their sizes.
struct RandomSource {
  uint64_t seed;
  uint64_t offset;
};

}  // namespace portacl::engine
