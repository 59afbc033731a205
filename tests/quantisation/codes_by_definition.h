// Codes of few bits as their definitions say, one value at a time in float64: the oracle of quantisers and of conversions.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

#include "acl/acl_base.h"
#include "support/dtype_rules.h"

namespace portacl::testing {

// The number of a code: a sign, `exponent_bits` and `fraction_bits`.
inline double IeeeLike(uint32_t code, int exponent_bits, int fraction_bits, int bias) {
  const int sign_place = exponent_bits + fraction_bits;
  const int exponent = static_cast<int>(code >> fraction_bits) & ((1 << exponent_bits) - 1);
  const int fraction = static_cast<int>(code) & ((1 << fraction_bits) - 1);
  const double size = exponent == 0
                          ? std::ldexp(fraction, 1 - bias - fraction_bits)
                          : std::ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
  return (code >> sign_place & 1) != 0 ? -size : size;
}

inline double HiFloatNumber(uint32_t code) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (code == 0) return 0;
  if (code == 0x80) return std::nan("");
  const double sign = code >= 0x80 ? -1 : 1;
  const uint32_t bits = code & 0x7F;
  if (bits == 0x6F) return sign * kInfinity;
  // What comes first says how many bits the exponent has, and so how many are left.
  struct Prefix {
    uint32_t value;
    int length, exponent, fraction;
  };
  for (const Prefix prefix : {Prefix{3, 2, 4, 1}, {2, 2, 3, 2}, {1, 2, 2, 3}, {1, 3, 1, 3}, {1, 4, 0, 3}}) {
    if (bits >> (7 - prefix.length) != prefix.value) continue;
    const int field = static_cast<int>(bits >> prefix.fraction) & ((1 << prefix.exponent) - 1);
    int exponent = 0;
    if (prefix.exponent > 0) {
      const int lead = 1 << (prefix.exponent - 1);
      exponent = (field & lead) != 0 ? -(lead | (field & (lead - 1))) : (lead | field);
    }
    const int fraction = static_cast<int>(bits) & ((1 << prefix.fraction) - 1);
    return sign * std::ldexp(1 + std::ldexp(fraction, -prefix.fraction), exponent);
  }
  return sign * std::ldexp(1.0, static_cast<int>(bits & 7) - 23);
}

inline double NumberOfCode(DtypeNumber dtype, uint32_t code) {
  switch (dtype) {
    case ACL_FLOAT8_E4M3FN:
      return (code & 0x7F) == 0x7F ? std::nan("") : IeeeLike(code, 4, 3, 7);
    case ACL_FLOAT8_E5M2:
      if ((code & 0x7F) > 0x7C) return std::nan("");
      if ((code & 0x7F) == 0x7C) return code < 0x80 ? INFINITY : -INFINITY;
      return IeeeLike(code, 5, 2, 15);
    case ACL_HIFLOAT8:
      return HiFloatNumber(code);
    case ACL_FLOAT8_E8M0:
      return code == 0xFF ? std::nan("") : std::ldexp(1.0, static_cast<int>(code) - 127);
    case ACL_FLOAT4_E2M1:
      return IeeeLike(code & 0xF, 2, 1, 1);
    case ACL_FLOAT4_E1M2:
      return IeeeLike(code & 0xF, 1, 2, 1);
    case ACL_INT4:
      return (code & 8) != 0 ? static_cast<double>(code & 7) - 8 : static_cast<double>(code & 7);
    default:
      return std::nan("");
  }
}
// The numbers of all codes, worked out once for each dtype.
inline const std::vector<double>& NumbersOfAllCodes(DtypeNumber dtype) {
  static std::map<DtypeNumber, std::vector<double>> made;
  std::vector<double>& numbers = made[dtype];
  if (numbers.empty()) {
    for (uint32_t code = 0; code < 256; ++code) numbers.push_back(NumberOfCode(dtype, code));
  }
  return numbers;
}
inline int BitsOfCode(DtypeNumber dtype) {
  return dtype == ACL_FLOAT4_E2M1 || dtype == ACL_FLOAT4_E1M2 || dtype == ACL_INT4 ? 4 : 8;
}

// The code of a number that is no NaN, by a search among all codes of its sign; of saturated ones the greatest at most.
inline uint32_t CodeOfNumber(DtypeNumber dtype, double x, bool saturates, char rounding = 'n') {
  const bool is_away = dtype == ACL_HIFLOAT8 || rounding == 'a';
  if (std::isnan(x)) {
    if (saturates) return 0;
    return dtype == ACL_HIFLOAT8 ? 0x80 : 0x7F;
  }
  const uint32_t sign = std::signbit(x) ? 1u << (BitsOfCode(dtype) - 1) : 0;
  const double size = std::fabs(x);
  const uint32_t end = 1u << (BitsOfCode(dtype) - 1);
  uint32_t below = 0;
  uint32_t greatest = 0;
  // Codes ascend with their numbers but for HIFLOAT8's.
  double number_below = 0;
  double number_above = std::numeric_limits<double>::infinity();
  uint32_t above = 0;
  double greatest_number = 0;
  const std::vector<double>& numbers = NumbersOfAllCodes(dtype);
  for (uint32_t code = 0; code < end; ++code) {
    const double number = numbers[code];
    if (std::isnan(number) || std::isinf(number)) continue;
    if (number <= size && number >= number_below) {
      number_below = number;
      below = code;
    }
    if (number > size && number < number_above) {
      number_above = number;
      above = code;
    }
    if (number >= greatest_number) {
      greatest_number = number;
      greatest = code;
    }
  }
  uint32_t code = below;
  if (above != 0) {
    const double low = size - number_below;
    const double high = number_above - size;
    // Below its least number HIFLOAT8 begins at half of that.
    const bool is_least = dtype == ACL_HIFLOAT8 && below == 0;
    const bool up = is_least          ? size >= std::ldexp(1.0, -23)
                    : rounding == 'f' ? sign != 0 && low > 0
                    : low == high     ? is_away || below % 2 != 0
                                      : low > high;
    if (up) code = above;
  } else if (!saturates) {
    // What would round to the number behind the greatest one.
    const uint32_t too_large = dtype == ACL_FLOAT8_E4M3FN ? 0x7F : dtype == ACL_FLOAT8_E5M2 ? 0x7C : 0x6F;
    const double next = dtype == ACL_FLOAT8_E4M3FN ? 480.0 : dtype == ACL_FLOAT8_E5M2 ? 65536.0 : 49152.0;
    const double middle = (greatest_number + next) / 2;
    if (size > middle || (size == middle && (is_away || greatest % 2 != 0))) code = too_large;
  }
  if (code == 0 && dtype == ACL_HIFLOAT8) return 0;
  return code | sign;
}

// A number as a quantiser writes it.
inline int64_t SaturatedInteger(double x, double low, double high) {
  if (std::isnan(x)) return 0;
  return static_cast<int64_t>(std::clamp(x, low, high));
}
inline double RoundedBy(double x, char rounding) {
  switch (rounding) {
    case 'f':
      return std::floor(x);
    case 'c':
      return std::ceil(x);
    case 't':
      return std::trunc(x);
    default:
      return std::nearbyint(x);
  }
}
inline uint32_t QuantisedCode(DtypeNumber dtype, float x, char rounding = 'n') {
  const double number = static_cast<double>(x);
  switch (dtype) {
    case ACL_INT8:
      return static_cast<uint32_t>(SaturatedInteger(RoundedBy(number, rounding), -128, 127)) & 0xFF;
    case ACL_UINT8:
      return static_cast<uint32_t>(SaturatedInteger(RoundedBy(number, rounding), 0, 255));
    case ACL_INT4:
      return static_cast<uint32_t>(SaturatedInteger(RoundedBy(number, rounding), -8, 7)) & 0xF;
    case ACL_INT32:
      return static_cast<uint32_t>(
          SaturatedInteger(RoundedBy(number, rounding), -2147483648.0, 2147483647.0));
    default:
      return CodeOfNumber(dtype, number, true, rounding);
  }
}

}  // namespace portacl::testing
