// Codes of few bits (see codes.h). What quantisers write is vectorised, but for the 4-bit floats. Conversions of
// small floats use scalar integer arithmetic, compiled once.
// SPDX-License-Identifier: Apache-2.0
#include "engine/codes.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/codes.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/codes-inl.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <Rounding kRounding>
HWY_INLINE VF RoundTo(VF x) {
  if constexpr (kRounding == Rounding::kFloor) return hn::Floor(x);
  if constexpr (kRounding == Rounding::kCeil) return hn::Ceil(x);
  if constexpr (kRounding == Rounding::kTruncate) return hn::Trunc(x);
  return hn::Round(x);
}

// Encodes the last, partial vector through buffers on the stack.
template <class T, Rounding kRounding>
void EncodeRounded(const float* from, T* to, size_t n, float lowest, float greatest) {
  const DF d;
  const hn::Rebind<T, DF> codes;
  const size_t lanes = hn::Lanes(d);
  const VF low = hn::Set(d, lowest);
  const VF high = hn::Set(d, greatest);
  const auto encode = [&](VF x) HWY_ATTR {
    const VF number = hn::IfThenElseZero(hn::Eq(x, x), x);
    const VF rounded = RoundTo<kRounding>(hn::Min(hn::Max(number, low), high));
    return hn::DemoteTo(codes, hn::ConvertTo(DI(), rounded));
  };
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(encode(hn::LoadU(d, from + i)), codes, to + i);
  if (i == n) return;
  HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN T rest[HWY_MAX_BYTES / sizeof(float)];
  std::memcpy(values, from + i, (n - i) * sizeof(float));
  hn::StoreU(encode(hn::LoadU(d, values)), codes, rest);
  std::memcpy(to + i, rest, (n - i) * sizeof(T));
}

template <class T, class Nearest>
HWY_INLINE void EncodeInteger(const float* from, void* to, size_t n, Rounding rounding, float lowest,
                              float greatest) {
  auto* const codes = static_cast<T*>(to);
  switch (rounding) {
    case Rounding::kFloor:
      return EncodeRounded<T, Rounding::kFloor>(from, codes, n, lowest, greatest);
    case Rounding::kCeil:
      return EncodeRounded<T, Rounding::kCeil>(from, codes, n, lowest, greatest);
    case Rounding::kTruncate:
      return EncodeRounded<T, Rounding::kTruncate>(from, codes, n, lowest, greatest);
    default:
      return EncodeAll<Nearest>(from, static_cast<uint8_t*>(to), n);
  }
}

void EncodeS8(const float* from, void* to, size_t n, Rounding rounding) {
  EncodeInteger<int8_t, S8Codes>(from, to, n, rounding, -128.0f, 127.0f);
}
void EncodeU8(const float* from, void* to, size_t n, Rounding rounding) {
  EncodeInteger<uint8_t, U8Codes>(from, to, n, rounding, 0.0f, 255.0f);
}
void EncodeS4(const float* from, void* to, size_t n, Rounding rounding) {
  EncodeInteger<int8_t, S4Codes>(from, to, n, rounding, -8.0f, 7.0f);
  auto* const codes = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < n; ++i) codes[i] &= 0xF;
}
void EncodeE4m3(const float* from, void* to, size_t n, Rounding) {
  EncodeAll<E4m3Codes>(from, static_cast<uint8_t*>(to), n);
}
void EncodeE5m2(const float* from, void* to, size_t n, Rounding) {
  EncodeAll<E5m2Codes>(from, static_cast<uint8_t*>(to), n);
}
void EncodeHiFloat(const float* from, void* to, size_t n, Rounding) {
  EncodeAll<HiFloatCodes>(from, static_cast<uint8_t*>(to), n);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kEncodeS8 = PORTACL_ISA_TABLE(EncodeS8);
constexpr auto kEncodeU8 = PORTACL_ISA_TABLE(EncodeU8);
constexpr auto kEncodeS4 = PORTACL_ISA_TABLE(EncodeS4);
constexpr auto kEncodeE4m3 = PORTACL_ISA_TABLE(EncodeE4m3);
constexpr auto kEncodeE5m2 = PORTACL_ISA_TABLE(EncodeE5m2);
constexpr auto kEncodeHiFloat = PORTACL_ISA_TABLE(EncodeHiFloat);

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr uint32_t kInfinityBits = 0x7F800000;
constexpr int kBias = 127;  // of float32's exponent

constexpr float PowerOf2(int exponent) {
  return exponent < -126 ? std::bit_cast<float>(uint32_t{1} << (exponent + 149))
                         : std::bit_cast<float>(static_cast<uint32_t>(exponent + kBias) << 23);
}

// ---- sign, exponent and fraction, as in IEEE 754 ----

template <int kFraction, int kExponentBias, uint32_t kGreatest, bool kHasInfinity>
struct Small {
  static constexpr uint32_t kGreatestCode = kGreatest;
  static constexpr uint32_t kTooLarge = kHasInfinity ? kGreatest + 1 : 0x7F;
  static constexpr uint32_t kNotANumber = 0x7F;
  static constexpr bool IsTooLarge(uint32_t code) { return code > kGreatest; }

  static constexpr float Number(uint32_t code) {
    const uint32_t magnitude = code & 0x7F;
    const int exponent = static_cast<int>(magnitude >> kFraction);
    const uint32_t fraction = magnitude & ((1u << kFraction) - 1);
    float value = 0;
    if (magnitude > kGreatest) {
      value = kHasInfinity && magnitude == kGreatest + 1 ? kInfinity : kNaN;
    } else if (exponent == 0) {
      value = static_cast<float>(fraction) * PowerOf2(1 - kExponentBias - kFraction);
    } else {
      value =
          (1.0f + static_cast<float>(fraction) * PowerOf2(-kFraction)) * PowerOf2(exponent - kExponentBias);
    }
    return (code & 0x80) != 0 ? -value : value;
  }

  // Returns the code of a magnitude that is a number, to nearest even; for one that is too large, a code
  // above the greatest.
  static uint32_t Round(uint32_t magnitude) {
    constexpr int kDropped = 23 - kFraction;
    constexpr uint32_t kNormal = static_cast<uint32_t>(kBias + 1 - kExponentBias) << 23;
    if (magnitude < kNormal) {
      // Adds a number whose last bit has the subnormals' unit, so that the sum is rounded correctly.
      constexpr float kLarge = PowerOf2(1 - kExponentBias - kFraction + 23);
      return std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + kLarge) -
             std::bit_cast<uint32_t>(kLarge);
    }
    const uint32_t odd = magnitude >> kDropped & 1;
    const uint32_t rounded = (magnitude + odd + ((1u << (kDropped - 1)) - 1)) >> kDropped;
    return rounded - (static_cast<uint32_t>(kBias - kExponentBias) << kFraction);
  }
};
using E4m3 = Small<3, 7, 0x7E, false>;
using E5m2 = Small<2, 15, 0x7B, true>;

// ---- HIFLOAT8: larger exponents take more bits from the fraction ----

struct HiFloat {
  static constexpr uint32_t kGreatestCode = 0x6E;
  static constexpr uint32_t kTooLarge = 0x6F;
  static constexpr uint32_t kNotANumber = 0x80;
  static constexpr bool IsTooLarge(uint32_t code) { return code == kTooLarge; }
  static constexpr int kLeastExponent = -22;
  static constexpr int kMostExponent = 15;

  static constexpr float Number(uint32_t code) {
    const uint32_t magnitude = code & 0x7F;
    float value = 0;
    if (magnitude == 0) return code == 0 ? 0.0f : kNaN;
    if (magnitude == kTooLarge) {
      value = kInfinity;
    } else if (magnitude < 8) {
      value = PowerOf2(static_cast<int>(magnitude) - 23);
    } else {
      // The bits of the exponent: its sign, then the bits after the leading one of its magnitude.
      const int bits = magnitude >= 0x60   ? 4
                       : magnitude >= 0x40 ? 3
                       : magnitude >= 0x20 ? 2
                       : magnitude >= 0x10 ? 1
                                           : 0;
      const int fraction_bits = magnitude >= 0x20 ? 5 - bits : 3;
      const uint32_t field = magnitude >> fraction_bits & ((1u << bits) - 1);
      const uint32_t fraction = magnitude & ((1u << fraction_bits) - 1);
      int exponent = 0;
      if (bits > 0) {
        const uint32_t size = 1u << (bits - 1) | (field & ((1u << (bits - 1)) - 1));
        exponent = (field >> (bits - 1)) != 0 ? -static_cast<int>(size) : static_cast<int>(size);
      }
      value = (1.0f + static_cast<float>(fraction) * PowerOf2(-fraction_bits)) * PowerOf2(exponent);
    }
    return (code & 0x80) != 0 ? -value : value;
  }

  static constexpr int FractionBits(int exponent) {
    const int size = exponent < 0 ? -exponent : exponent;
    return size > 15 ? 0 : size > 7 ? 1 : size > 3 ? 2 : 3;
  }

  // The codes of all numbers without a sign, by exponent and the first three bits of the fraction.
  static constexpr auto Codes() {
    std::array<std::array<uint8_t, 8>, kMostExponent - kLeastExponent + 1> codes{};
    for (uint32_t code = 1; code < 0x80; ++code) {
      const auto bits =
          std::bit_cast<uint32_t>(code == kTooLarge ? 1.5f * PowerOf2(kMostExponent) : Number(code));
      const int exponent = static_cast<int>(bits >> 23) - kBias;
      codes[static_cast<size_t>(exponent - kLeastExponent)][bits >> 20 & 7] = static_cast<uint8_t>(code);
    }
    return codes;
  }

  // Rounds with ties away from zero.
  static uint32_t Round(uint32_t magnitude) {
    static constexpr auto kCodes = Codes();
    int exponent = static_cast<int>(magnitude >> 23) - kBias;
    if (exponent < kLeastExponent - 1) return 0;
    if (exponent < kLeastExponent) return 1;
    const int dropped = 23 - FractionBits(exponent);
    const uint32_t rounded = (magnitude + (1u << (dropped - 1))) >> dropped << dropped;
    exponent = static_cast<int>(rounded >> 23) - kBias;
    if (exponent > kMostExponent) return kTooLarge;
    return kCodes[static_cast<size_t>(exponent - kLeastExponent)][rounded >> 20 & 7];
  }
};

// ---- powers of two in 8 bits, without a sign ----

constexpr float PowerOfCode(uint32_t code) {
  return code == 0xFF ? kNaN : PowerOf2(static_cast<int>(code) - kBias);
}

// ---- 4 bits ----

constexpr float kE2m1[] = {0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
constexpr float kE1m2[] = {0, 0.25f, 0.5f, 0.75f, 1, 1.25f, 1.5f, 1.75f};

template <const float (&kNumbers)[8]>
uint8_t EncodeNibble(float x, Rounding rounding) {
  if (std::isnan(x)) return 0;
  const float size = std::fabs(x);
  const bool is_negative = std::signbit(x);
  uint8_t code = 0;
  while (code < 7 && kNumbers[code + 1] <= size) ++code;
  if (code < 7) {
    const float below = size - kNumbers[code];
    const float above = kNumbers[code + 1] - size;
    const bool is_tie = below == above;
    switch (rounding) {
      case Rounding::kFloor:
        code += is_negative && below != 0 ? 1 : 0;
        break;
      case Rounding::kCeil:
        code += !is_negative && below != 0 ? 1 : 0;
        break;
      case Rounding::kTruncate:
        break;
      case Rounding::kNearestAway:
        code += below >= above ? 1 : 0;
        break;
      case Rounding::kNearestEven:
        code += below > above || (is_tie && (code & 1) != 0) ? 1 : 0;
        break;
    }
  }
  return static_cast<uint8_t>(code | (is_negative ? 8 : 0));
}
template <const float (&kNumbers)[8]>
void EncodeNibbles(const float* from, void* to, size_t n, Rounding rounding) {
  auto* const codes = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < n; ++i) codes[i] = EncodeNibble<kNumbers>(from[i], rounding);
}

// ---- all codes of a format ----

// Returns the code of a magnitude; one that is too large has the code `too_large`.
template <class Format>
uint32_t CodeOf(uint32_t bits, uint32_t too_large) {
  const uint32_t magnitude = bits & 0x7FFFFFFF;
  uint32_t code = magnitude == kInfinityBits ? too_large : Format::Round(magnitude);
  if (Format::IsTooLarge(code)) code = too_large;
  const bool has_sign = code != 0 || !std::is_same_v<Format, HiFloat>;
  return has_sign ? code | (bits >> 24 & 0x80) : code;
}
template <class Format>
void StoreBytes(const float* from, void* to, size_t n, bool) {
  auto* const codes = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < n; ++i) {
    const auto bits = std::bit_cast<uint32_t>(from[i]);
    const bool is_nan = (bits & 0x7FFFFFFF) > kInfinityBits;
    const uint32_t sign = std::is_same_v<Format, HiFloat> ? 0 : bits >> 24 & 0x80;
    codes[i] =
        static_cast<uint8_t>(is_nan ? Format::kNotANumber | sign : CodeOf<Format>(bits, Format::kTooLarge));
  }
}

// Rounds to the nearest power of two, ties to the greater. Numbers not above 0 become the least one; NaN and
// infinity become NaN.
uint8_t CodeOfPower(float x) {
  if (std::isnan(x) || x == kInfinity) return 0xFF;
  if (!(x > PowerOf2(-kBias))) return 0;
  const auto bits = std::bit_cast<uint32_t>(x);
  if (bits < 0x00800000) return bits >= 0x00600000 ? 1 : 0;
  return static_cast<uint8_t>(std::min<uint32_t>((bits + 0x00400000) >> 23, 0xFF));
}
void StorePowers(const float* from, void* to, size_t n, bool) {
  auto* const codes = static_cast<uint8_t*>(to);
  for (size_t i = 0; i < n; ++i) codes[i] = CodeOfPower(from[i]);
}

void EncodeS32(const float* from, void* to, size_t n, Rounding rounding) {
  auto* const numbers = static_cast<char*>(to);
  for (size_t i = 0; i < n; ++i) {
    float x = std::isnan(from[i]) ? 0.0f : from[i];
    switch (rounding) {
      case Rounding::kFloor:
        x = std::floor(x);
        break;
      case Rounding::kCeil:
        x = std::ceil(x);
        break;
      case Rounding::kTruncate:
        x = std::trunc(x);
        break;
      default:
        x = std::nearbyint(x);
        break;
    }
    const int32_t number = x >= 2147483648.0f   ? std::numeric_limits<int32_t>::max()
                           : x < -2147483648.0f ? std::numeric_limits<int32_t>::min()
                                                : static_cast<int32_t>(x);
    std::memcpy(numbers + i * sizeof number, &number, sizeof number);
  }
}

// ---- numbers of codes ----

using Numbers = std::array<float, 256>;
template <class Number>
constexpr Numbers NumbersBy(const Number& number) {
  Numbers numbers{};
  for (uint32_t code = 0; code < 256; ++code) numbers[code] = number(code);
  return numbers;
}
template <const float (&kSizes)[8]>
constexpr float NumberOfNibble(uint32_t code) {
  return (code & 8) != 0 ? -kSizes[code & 7] : kSizes[code & 7];
}
constexpr float NumberOfS4(uint32_t code) {
  return static_cast<float>(static_cast<int>(code & 7) - static_cast<int>(code & 8));
}
constexpr Numbers kE4m3Numbers = NumbersBy(E4m3::Number);
constexpr Numbers kE5m2Numbers = NumbersBy(E5m2::Number);
constexpr Numbers kHiFloatNumbers = NumbersBy(HiFloat::Number);
constexpr Numbers kPowers = NumbersBy(PowerOfCode);
constexpr Numbers kE2m1Numbers = NumbersBy(NumberOfNibble<kE2m1>);
constexpr Numbers kE1m2Numbers = NumbersBy(NumberOfNibble<kE1m2>);
constexpr Numbers kS4Numbers = NumbersBy(NumberOfS4);

template <const Numbers& kNumbers>
void LoadBytes(const void* source, float* destination, size_t n) {
  const auto* const codes = static_cast<const uint8_t*>(source);
  for (size_t i = 0; i < n; ++i) destination[i] = kNumbers[codes[i]];
}

}  // namespace

EncodeFunction FindEncode(Isa isa, aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_INT8:
      return kEncodeS8.For(isa);
    case ACL_UINT8:
      return kEncodeU8.For(isa);
    case ACL_INT4:
      return kEncodeS4.For(isa);
    case ACL_INT32:
      return EncodeS32;
    case ACL_FLOAT8_E4M3FN:
      return kEncodeE4m3.For(isa);
    case ACL_FLOAT8_E5M2:
      return kEncodeE5m2.For(isa);
    case ACL_HIFLOAT8:
      return kEncodeHiFloat.For(isa);
    case ACL_FLOAT4_E2M1:
      return EncodeNibbles<kE2m1>;
    case ACL_FLOAT4_E1M2:
      return EncodeNibbles<kE1m2>;
    default:
      return nullptr;
  }
}

void PackHalves(const uint8_t* from, uint8_t* to, size_t n) noexcept {
  for (size_t i = 0; i < n; ++i) to[i] = static_cast<uint8_t>((from[2 * i] & 0xF) | from[2 * i + 1] << 4);
}

const float* NumbersOfCodes(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT8_E4M3FN:
      return kE4m3Numbers.data();
    case ACL_FLOAT8_E5M2:
      return kE5m2Numbers.data();
    case ACL_HIFLOAT8:
      return kHiFloatNumbers.data();
    case ACL_FLOAT8_E8M0:
      return kPowers.data();
    case ACL_FLOAT4_E2M1:
      return kE2m1Numbers.data();
    case ACL_FLOAT4_E1M2:
      return kE1m2Numbers.data();
    case ACL_INT4:
      return kS4Numbers.data();
    default:
      return nullptr;
  }
}

float GreatestNumber(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_INT8:
      return 127;
    case ACL_UINT8:
      return 255;
    case ACL_INT4:
      return 7;
    case ACL_INT32:
      return 2147483648.0f;
    case ACL_FLOAT8_E4M3FN:
      return E4m3::Number(E4m3::kGreatestCode);
    case ACL_FLOAT8_E5M2:
      return E5m2::Number(E5m2::kGreatestCode);
    case ACL_HIFLOAT8:
      return HiFloat::Number(HiFloat::kGreatestCode);
    case ACL_FLOAT4_E2M1:
      return *std::rbegin(kE2m1);
    case ACL_FLOAT4_E1M2:
      return *std::rbegin(kE1m2);
    default:
      return 0;
  }
}

LoadBytesFunction FindByteFloatLoad(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT8_E4M3FN:
      return LoadBytes<kE4m3Numbers>;
    case ACL_FLOAT8_E5M2:
      return LoadBytes<kE5m2Numbers>;
    case ACL_HIFLOAT8:
      return LoadBytes<kHiFloatNumbers>;
    case ACL_FLOAT8_E8M0:
      return LoadBytes<kPowers>;
    default:
      return nullptr;
  }
}
StoreBytesFunction FindByteFloatStore(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT8_E4M3FN:
      return StoreBytes<E4m3>;
    case ACL_FLOAT8_E5M2:
      return StoreBytes<E5m2>;
    case ACL_HIFLOAT8:
      return StoreBytes<HiFloat>;
    case ACL_FLOAT8_E8M0:
      return StorePowers;
    default:
      return nullptr;
  }
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
