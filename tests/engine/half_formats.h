// The 16-bit formats as lists of exact values: what a rounding to nearest even must find, without doing any rounding.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "acl/acl_base.h"
#include "support/float_formats.h"

namespace portacl::testing {

struct HalfFormat {
  const char* name;
  aclDataType dtype;
  FloatFormat format;

  // The exact value of a non-negative finite pattern. One past the largest finite one is what would follow if the
  // exponent range did not end there: the bound of overflow lies half way to it.
  double Value(uint32_t magnitude) const {
    if (magnitude != format.InfinityBits()) return DecodeFloat(format, magnitude);
    return 2 * DecodeFloat(format, magnitude - (1u << format.fraction_bits));
  }

  // Half way between a non-negative finite pattern and the next one; exact in float32 and in double.
  double Midpoint(uint32_t magnitude) const { return 0.5 * (Value(magnitude) + Value(magnitude + 1)); }

  bool IsNan(uint32_t bits) const { return (bits & (format.SignBit() - 1)) > format.InfinityBits(); }
};

inline constexpr HalfFormat kHalfFormats[] = {{"float16", ACL_FLOAT16, kFloat16},
                                              {"bfloat16", ACL_BF16, kBfloat16}};

// Rounds non-negative float32 values that come in ascending order, by walking along the representable values: the
// nearest one, the even one when both are equally near.
class AscendingRounding {
 public:
  explicit AscendingRounding(const HalfFormat& half) : half_(half) { SetBound(); }

  uint16_t Of(uint32_t float_magnitude) {
    const auto value = static_cast<double>(std::bit_cast<float>(float_magnitude));
    while (value > bound_ || (value == bound_ && nearest_ % 2 == 1)) {
      ++nearest_;
      SetBound();
    }
    return static_cast<uint16_t>(nearest_);
  }

 private:
  void SetBound() {
    bound_ = nearest_ < half_.format.InfinityBits() ? half_.Midpoint(nearest_)
                                                    : std::numeric_limits<double>::infinity();
  }

  const HalfFormat& half_;
  uint32_t nearest_ = 0;
  double bound_ = 0;
};

}  // namespace portacl::testing
