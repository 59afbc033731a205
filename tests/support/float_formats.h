// Converts between double, integers, f32, f16 and bf16 for the oracle. Uses integer arithmetic and one
// rounding to nearest even, independent of the floating-point environment and of the library under test.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace portacl::testing {

// An IEEE binary interchange format of at most 32 bits.
struct FloatFormat {
  int exponent_bits;
  int fraction_bits;

  constexpr int Bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr int MinExponent() const { return 1 - Bias(); }  // of the smallest normal number
  constexpr int MaxExponent() const { return Bias(); }      // of the largest finite number
  constexpr uint32_t InfinityBits() const { return ((uint32_t{1} << exponent_bits) - 1) << fraction_bits; }
  constexpr uint32_t SignBit() const { return uint32_t{1} << (exponent_bits + fraction_bits); }
  constexpr uint32_t QuietNanBits() const { return InfinityBits() | (uint32_t{1} << (fraction_bits - 1)); }
};

inline constexpr FloatFormat kFloat32{8, 23};
inline constexpr FloatFormat kFloat16{5, 10};
inline constexpr FloatFormat kBfloat16{8, 7};

// Drops the low `shift` bits of `significand`, rounding to nearest, ties to even.
constexpr uint64_t ShiftRightToNearestEven(uint64_t significand, int shift) {
  if (shift <= 0) {
    return significand << -shift;
  }
  if (shift > 64) {
    return 0;
  }
  if (shift == 64) {
    return significand > (uint64_t{1} << 63) ? 1 : 0;
  }
  const uint64_t kept = significand >> shift;
  const uint64_t dropped = significand & ((uint64_t{1} << shift) - 1);
  const uint64_t half = uint64_t{1} << (shift - 1);
  const bool up = dropped > half || (dropped == half && (kept & 1) != 0);
  return kept + (up ? 1 : 0);
}

// Returns the bits of significand * 2^exponent in `format`, rounded once. Overflow gives infinity, and
// underflow is gradual.
constexpr uint32_t RoundToFormat(FloatFormat format, bool negative, uint64_t significand, int exponent) {
  const uint32_t sign = negative ? format.SignBit() : 0;
  if (significand == 0) {
    return sign;
  }
  const int top = 63 - std::countl_zero(significand);
  const int value_exponent = top + exponent;  // 2^value_exponent <= value < 2^(value_exponent + 1)
  if (value_exponent > format.MaxExponent()) {
    return sign | format.InfinityBits();
  }
  const int lowest = value_exponent < format.MinExponent() ? format.MinExponent() : value_exponent;
  const int unit_exponent = lowest - format.fraction_bits;  // exponent of one unit in the last place
  const uint64_t units = ShiftRightToNearestEven(significand, unit_exponent - exponent);
  // `units` carries the hidden bit: adding it to the exponent field below makes a carry move into the next
  // binade, from the largest subnormal into the normals and from the largest finite number into infinity.
  const uint64_t biased = static_cast<uint64_t>(lowest - format.MinExponent());
  return sign | static_cast<uint32_t>((biased << format.fraction_bits) + units);
}

inline uint32_t EncodeFloat(FloatFormat format, double value) {
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const bool negative = (bits >> 63) != 0;
  const int exponent_field = static_cast<int>((bits >> 52) & 0x7FF);
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  if (exponent_field == 0x7FF) {
    const uint32_t sign = negative ? format.SignBit() : 0;
    return sign | (fraction != 0 ? format.QuietNanBits() : format.InfinityBits());
  }
  const uint64_t significand = exponent_field == 0 ? fraction : fraction | (uint64_t{1} << 52);
  const int exponent = (exponent_field == 0 ? 1 : exponent_field) - 1075;
  return RoundToFormat(format, negative, significand, exponent);
}

// Rounds the integer directly, never through another floating-point type.
constexpr uint32_t EncodeInteger(FloatFormat format, int64_t value) {
  const bool negative = value < 0;
  const uint64_t magnitude =
      negative ? uint64_t{0} - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  return RoundToFormat(format, negative, magnitude, 0);
}

inline double DecodeFloat(FloatFormat format, uint32_t bits) {
  const bool negative = (bits & format.SignBit()) != 0;
  const uint32_t magnitude = bits & (format.SignBit() - 1);
  double value = 0;
  if (magnitude > format.InfinityBits()) {
    value = std::numeric_limits<double>::quiet_NaN();
  } else if (magnitude == format.InfinityBits()) {
    value = std::numeric_limits<double>::infinity();
  } else {
    const uint32_t exponent_field = magnitude >> format.fraction_bits;
    const uint32_t fraction = magnitude & ((uint32_t{1} << format.fraction_bits) - 1);
    const uint32_t hidden = exponent_field == 0 ? 0 : uint32_t{1} << format.fraction_bits;
    const int exponent = (exponent_field == 0 ? 1 : static_cast<int>(exponent_field)) - format.Bias();
    value = std::ldexp(static_cast<double>(fraction | hidden), exponent - format.fraction_bits);
  }
  return negative ? -value : value;
}

// Returns the float nearest to `value`, in any floating-point environment.
inline float NearestFloat(double value) { return std::bit_cast<float>(EncodeFloat(kFloat32, value)); }

// Returns one unit in the last place of the format's binade that holds `value`.
inline double Ulp(FloatFormat format, double value) {
  const int exponent = value == 0 ? format.MinExponent() : std::max(std::ilogb(value), format.MinExponent());
  return std::ldexp(1.0, exponent - format.fraction_bits);
}

inline double FloatUlp(double value) { return Ulp(kFloat32, value); }

}  // namespace portacl::testing
