// Random numbers that are the same on every machine, compiler and standard library.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::testing {

// SplitMix64. The standard library's distributions differ between implementations, so none is used.
class RandomNumbers {
 public:
  explicit RandomNumbers(uint64_t seed) : state_(seed) {}

  uint64_t Bits() {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Returns a whole number in [0, bound). The bias of the remainder does not matter for test cases.
  int64_t Below(int64_t bound) { return static_cast<int64_t>(Bits() % static_cast<uint64_t>(bound)); }

  int64_t Between(int64_t low, int64_t high) { return low + Below(high - low + 1); }

  bool Chance(int percent) { return Below(100) < percent; }

  // Returns a multiple of 2^-53 in [0, 1).
  double Unit() { return static_cast<double>(Bits() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

}  // namespace portacl::testing
