// A sum of float32 numbers without any rounding, and its one rounding to a format.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "float_formats.h"

namespace portacl::testing {

// A fixed-point number wide enough for 2^60 times the largest float32. Infinities and NaN are not for it.
class ExactSum {
 public:
  void Add(float term);

  // Rounded once, to nearest even; an exact zero is +0.
  uint32_t RoundedTo(FloatFormat format) const;
  double ToDouble() const;  // may be one unit in the last place of float64 off

 private:
  static constexpr int kWords = 6;
  static constexpr int kLowestExponent = -149;  // of bit 0

  struct Magnitude {
    bool negative = false;
    uint64_t significand = 0;  // the top 64 bits, the last of them set if anything is below
    int exponent = 0;
  };
  Magnitude Top() const;

  std::array<uint64_t, kWords> words_{};  // two's complement, lowest first
};

}  // namespace portacl::testing
