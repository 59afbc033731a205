// Conversions (see conversions.h). The 16-bit ones are written with integer arithmetic: Highway's truncate on
// some targets.
// SPDX-License-Identifier: Apache-2.0
#include "engine/conversions.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "acl/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/conversions.cc"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DU = hn::ScalableTag<uint32_t>;
using DI = hn::ScalableTag<int32_t>;
using DH = hn::Rebind<uint16_t, DU>;
using VF = hn::Vec<DF>;
using VU = hn::Vec<DU>;

// A 16-bit value in the low half of each 32-bit lane -> float32 bits.
HWY_INLINE VU WidenBf16(DU, VU half) { return hn::ShiftLeft<16>(half); }

HWY_INLINE VU WidenF16(DU du, VU half) {
  const DF df;
  const VU sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000u)));
  const VU magnitude = hn::And(half, hn::Set(du, 0x7FFFu));
  const VU shifted = hn::ShiftLeft<13>(magnitude);
  const VU normal = hn::Add(shifted, hn::Set(du, 112u << 23));
  const VU infinite = hn::Add(shifted, hn::Set(du, 224u << 23));
  // A subnormal becomes a normal number with the exponent of 2^-14 and a hidden bit too much, which is
  // subtracted: exact.
  const VU subnormal = hn::BitCast(du, hn::Sub(hn::BitCast(df, hn::Add(shifted, hn::Set(du, 113u << 23))),
                                               hn::BitCast(df, hn::Set(du, 113u << 23))));
  const DI di;
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto is_subnormal = hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 0x0400)));
  const auto is_infinite = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7BFF)));
  return hn::Or(sign, hn::IfThenElse(is_infinite, infinite, hn::IfThenElse(is_subnormal, subnormal, normal)));
}

// float32 bits -> 16-bit value in the low half of each lane, rounded to nearest even.
HWY_INLINE VU NarrowBf16(DU du, VU bits) {
  const DI di;
  const VU odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const VU rounded = hn::ShiftRight<16>(hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu))));
  const VU quiet = hn::Or(hn::ShiftRight<16>(bits), hn::Set(du, 0x40u));
  const auto magnitude = hn::BitCast(di, hn::And(bits, hn::Set(du, 0x7FFFFFFFu)));
  const auto is_nan = hn::RebindMask(du, hn::Gt(magnitude, hn::Set(di, 0x7F800000)));
  return hn::IfThenElse(is_nan, quiet, rounded);
}

HWY_INLINE VU NarrowF16(DU du, VU bits) {
  const DF df;
  const DI di;
  const VU sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(du, 0x80000000u)));
  const VU magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const VU odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  // Rebias the exponent by -112 and round away the low 13 bits; a carry into the exponent is the right
  // result.
  const VU normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xFFFu - (112u << 23)))));
  // Adding 0.5 aligns a small value's units with the subnormals' 2^-24 and rounds it to nearest even on the
  // way.
  const VU aligned = hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f)));
  const VU subnormal = hn::Sub(aligned, hn::Set(du, 126u << 23));
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto is_subnormal = hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 113 << 23)));
  const auto is_infinite =
      hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x477FEFFF)));  // from 65520 on
  const auto is_nan = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7F800000)));
  VU result = hn::IfThenElse(is_subnormal, subnormal, normal);
  result = hn::IfThenElse(is_infinite, hn::Set(du, 0x7C00u), result);
  result = hn::IfThenElse(is_nan, hn::Set(du, 0x7E00u), result);
  return hn::Or(sign, result);
}

HWY_INLINE VU LoadHalves(DU du, const uint16_t* source) { return hn::PromoteTo(du, hn::LoadU(DH(), source)); }

HWY_INLINE void StoreHalves(DU, VU halves, uint16_t* destination) {
  // Values are at most 0xFFFF, so the saturating demotion from signed keeps them.
  hn::StoreU(hn::DemoteTo(DH(), hn::BitCast(DI(), halves)), DH(), destination);
}

// The last, partial vector goes through buffers on the stack: nothing outside [0, n) is read or written.
template <VU (*kWiden)(DU, VU)>
HWY_INLINE void LoadHalfPrecision(const void* source, float* destination, size_t n) {
  const DU du;
  const DF df;
  const auto* from = static_cast<const uint16_t*>(source);
  const size_t lanes = hn::Lanes(du);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(hn::BitCast(df, kWiden(du, LoadHalves(du, from + i))), df, destination + i);
  }
  if (i == n) return;
  HWY_ALIGN uint16_t halves[HWY_MAX_BYTES / 4] = {};
  HWY_ALIGN float values[HWY_MAX_BYTES / 4];
  std::memcpy(halves, from + i, (n - i) * sizeof(uint16_t));
  hn::StoreU(hn::BitCast(df, kWiden(du, LoadHalves(du, halves))), df, values);
  std::memcpy(destination + i, values, (n - i) * sizeof(float));
}

template <VU (*kNarrow)(DU, VU)>
HWY_INLINE void StoreHalfPrecision(const float* source, void* destination, size_t n) {
  const DU du;
  const DF df;
  auto* to = static_cast<uint16_t*>(destination);
  const size_t lanes = hn::Lanes(du);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    StoreHalves(du, kNarrow(du, hn::BitCast(du, hn::LoadU(df, source + i))), to + i);
  }
  if (i == n) return;
  HWY_ALIGN float values[HWY_MAX_BYTES / 4] = {};
  HWY_ALIGN uint16_t halves[HWY_MAX_BYTES / 4];
  std::memcpy(values, source + i, (n - i) * sizeof(float));
  StoreHalves(du, kNarrow(du, hn::BitCast(du, hn::LoadU(df, values))), halves);
  std::memcpy(to + i, halves, (n - i) * sizeof(uint16_t));
}

void LoadF16(const void* source, float* destination, size_t n) {
  LoadHalfPrecision<WidenF16>(source, destination, n);
}
void LoadBf16(const void* source, float* destination, size_t n) {
  LoadHalfPrecision<WidenBf16>(source, destination, n);
}
void StoreF16(const float* source, void* destination, size_t n) {
  StoreHalfPrecision<NarrowF16>(source, destination, n);
}
void StoreBf16(const float* source, void* destination, size_t n) {
  StoreHalfPrecision<NarrowBf16>(source, destination, n);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/dispatch.h"

namespace portacl::engine {
namespace {

constexpr auto kLoadF16 = PORTACL_ISA_TABLE(LoadF16);
constexpr auto kLoadBf16 = PORTACL_ISA_TABLE(LoadBf16);
constexpr auto kStoreF16 = PORTACL_ISA_TABLE(StoreF16);
constexpr auto kStoreBf16 = PORTACL_ISA_TABLE(StoreBf16);

void LoadF32(const void* source, float* destination, size_t n) {
  std::memcpy(destination, source, n * sizeof(float));
}

// An integer rounded to nearest even to `kBits` significant bits: exact for magnitudes that need no more.
template <int kBits>
float RoundToSignificantBits(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int width = static_cast<int>(std::bit_width(magnitude));
  uint64_t kept = magnitude;
  int dropped = 0;
  if (width > kBits) {
    dropped = width - kBits;
    kept = magnitude >> dropped;
    const uint64_t rest = magnitude & ((uint64_t{1} << dropped) - 1);
    const uint64_t half = uint64_t{1} << (dropped - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  // Both factors and their product are exact in float32.
  const float scaled =
      static_cast<float>(kept) * std::bit_cast<float>(static_cast<uint32_t>(127 + dropped) << 23);
  return value < 0 ? -scaled : scaled;
}

struct ThroughF32 {
  template <class T>
  static float Round(T value) {
    return static_cast<float>(value);
  }
};

struct ThroughBf16 {
  template <class T>
  static float Round(T value) {
    return RoundToSignificantBits<8>(value);
  }
};

struct ThroughF16 {
  template <class T>
  static float Round(T value) {
    const float rounded = RoundToSignificantBits<11>(value);
    constexpr float kInfinity = std::bit_cast<float>(0x7F800000u);
    return rounded > 65504.0f ? kInfinity : rounded < -65504.0f ? -kInfinity : rounded;
  }
};

// Memory of a bool tensor may hold any byte.
struct BoolByte {
  uint8_t byte;
};

template <class T, class Through>
void LoadInteger(const void* source, float* destination, size_t n) {
  const auto* from = static_cast<const unsigned char*>(source);
  for (size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, BoolByte>) {
      destination[i] = value.byte != 0 ? 1.0f : 0.0f;
    } else {
      destination[i] = Through::Round(value);
    }
  }
}

template <class Through>
LoadFunction FindIntegerLoad(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8:
      return LoadInteger<int8_t, Through>;
    case ACL_UINT8:
      return LoadInteger<uint8_t, Through>;
    case ACL_INT16:
      return LoadInteger<int16_t, Through>;
    case ACL_INT32:
      return LoadInteger<int32_t, Through>;
    case ACL_INT64:
      return LoadInteger<int64_t, Through>;
    case ACL_BOOL:
      return LoadInteger<BoolByte, Through>;
    default:
      return nullptr;
  }
}

void StoreF32(const float* source, void* destination, size_t n) {
  std::memcpy(destination, source, n * sizeof(float));
}

template <class Real, int kParts>
void StoreWide(const float* source, void* destination, size_t n) {
  auto* to = static_cast<unsigned char*>(destination);
  for (size_t i = 0; i < n; ++i) {
    const Real parts[2] = {static_cast<Real>(source[i]), Real{0}};
    std::memcpy(to + i * sizeof(Real) * kParts, parts, sizeof(Real) * kParts);
  }
}

}  // namespace

LoadFunction FindLoad(Isa isa, aclDataType dtype, aclDataType through) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      return LoadF32;
    case ACL_FLOAT16:
      return kLoadF16.For(isa);
    case ACL_BF16:
      return kLoadBf16.For(isa);
    default:
      break;
  }
  switch (through) {
    case ACL_FLOAT:
      return FindIntegerLoad<ThroughF32>(dtype);
    case ACL_FLOAT16:
      return FindIntegerLoad<ThroughF16>(dtype);
    case ACL_BF16:
      return FindIntegerLoad<ThroughBf16>(dtype);
    default:
      return nullptr;
  }
}

StoreFunction FindStore(Isa isa, aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      return StoreF32;
    case ACL_FLOAT16:
      return kStoreF16.For(isa);
    case ACL_BF16:
      return kStoreBf16.For(isa);
    case ACL_DOUBLE:
      return StoreWide<double, 1>;
    case ACL_COMPLEX64:
      return StoreWide<float, 2>;
    case ACL_COMPLEX128:
      return StoreWide<double, 2>;
    default:
      return nullptr;
  }
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
