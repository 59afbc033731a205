// Philox4x32-10 as its authors published it (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC11), one block at a
// time: what results are compared with.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

namespace portacl::testing {

using Words4 = std::array<uint32_t, 4>;

inline Words4 Philox(Words4 counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    if (round > 0) {
      key[0] += 0x9E3779B9u;
      key[1] += 0xBB67AE85u;
    }
    const uint64_t product0 = 0xD2511F53ull * counter[0];
    const uint64_t product1 = 0xCD9E8D57ull * counter[2];
    counter = {static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(product1),
               static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(product0)};
  }
  return counter;
}

// What an element of a call is made of: word `step` of the four that it has.
inline uint32_t WordOf(uint64_t seed, uint64_t offset, int64_t element, int step = 0) {
  const uint64_t low = offset + static_cast<uint64_t>(step);
  const uint64_t high = static_cast<uint64_t>(element) / 4;
  const auto half = [](uint64_t number, int which) { return static_cast<uint32_t>(number >> (32 * which)); };
  return Philox({half(low, 0), half(low, 1), half(high, 0), half(high, 1)},
                {half(seed, 0), half(seed, 1)})[static_cast<size_t>(element % 4)];
}

}  // namespace portacl::testing
