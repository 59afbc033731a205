// Sums float32 numbers without any rounding, and rounds the sum once to a format.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "float_formats.h"

namespace portacl::testing {

// A fixed-point number wide enough for 2^60 times the largest float32. Does not support infinities and NaN.
class ExactSum {
 public:
  void Add(float term);

  // Rounds once, to nearest even. An exact zero is +0.
  uint32_t RoundedTo(FloatFormat format) const;
  double ToDouble() const;  // off by at most one unit in the last place

 private:
  static constexpr int kWords = 6;
  static constexpr int kLowestExponent = -149;  // of bit 0

  struct Magnitude {
    bool negative = false;
    uint64_t significand = 0;  // the top 64 bits; the last one is set if anything lies below
    int exponent = 0;
  };
  Magnitude Top() const;

  std::array<uint64_t, kWords> words_{};  // two's complement, lowest first
};

}  // namespace portacl::testing
