// Conversions (see conversion.h). Each pass is a plain loop that the compiler vectorises once per instruction
// set. No result depends on how an instruction treats values out of range.
// SPDX-License-Identifier: Apache-2.0
#include "engine/move/conversion.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <mutex>
#include <type_traits>

#include "base/vector_targets.h"

#ifndef PORTACL_ENGINE_MOVE_CONVERSION_PASSES_
#define PORTACL_ENGINE_MOVE_CONVERSION_PASSES_

namespace portacl::engine {

// The passes of this file. The name says from which type and to which.
enum class Pass : uint8_t {
  kNone,
  // Exact in float32.
  kS8ToF32,
  kU8ToF32,
  kS16ToF32,
  kU16ToF32,
  kBoolToF32,
  // One rounding.
  kS32ToF32,
  kS64ToF32,
  kU64ToF32,
  kF64ToF32,
  // To float32, rounded to odd: the last bit records that bits were dropped. A second rounding to a type of
  // at most 16 bits is then that of the exact value.
  kF64ToOdd,
  // To float64, rounded to odd.
  kS64ToOdd,
  kU64ToOdd,
  kF32ToF64,
  kS32ToF64,
  kU32ToF64,
  kS64ToF64,
  kU64ToF64,
  kF32ToS32,
  kF32ToS64,
  kF64ToS32,
  kF64ToS64,
  kF64ToU64,
  kS8ToS64,
  kU8ToS64,
  kS16ToS64,
  kU16ToS64,
  kS32ToS64,
  kU32ToS64,
  kS64ToS8,
  kS64ToS16,
  kS64ToS32,
  kS8ToS32,
  kU8ToS32,
  kS16ToS32,
  kU16ToS32,
  kS32ToS8,
  kS32ToS16,
  kBits8ToBool,
  kBits16ToBool,
  kBits32ToBool,
  kBits64ToBool,
  kF32ToBool,
  kF64ToBool,
  kC64ToBool,
  kC128ToBool,
  kF32ToC64,
  kF64ToC128,
};

}  // namespace portacl::engine

#endif  // PORTACL_ENGINE_MOVE_CONVERSION_PASSES_

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/move/conversion.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

struct Pair32 {
  float part[2];
};
struct Pair64 {
  double part[2];
};

// Uses static_cast, which is defined for every value here.
template <class To>
struct Cast {
  template <class From>
  static HWY_INLINE To Of(From x) {
    return static_cast<To>(x);
  }
};

template <class To>
struct FromBool {
  static HWY_INLINE To Of(uint8_t byte) { return byte != 0 ? To{1} : To{0}; }
};

struct IsNotZero {
  template <class From>
  static HWY_INLINE uint8_t Of(From x) {
    return x != 0 ? 1 : 0;
  }
};

struct EitherIsNotZero {
  template <class From>
  static HWY_INLINE uint8_t Of(const From& x) {
    return static_cast<uint8_t>(static_cast<int>(x.part[0] != 0) | static_cast<int>(x.part[1] != 0));
  }
};

struct WithZero {
  static HWY_INLINE Pair32 Of(float x) { return {{x, 0.0f}}; }
  static HWY_INLINE Pair64 Of(double x) { return {{x, 0.0}}; }
};

// Clamps first, since the cast is undefined beyond the bounds.
template <class Integer, class Float>
HWY_INLINE Integer Truncate(Float x, Float lowest, Float highest) {
  const Float number = x == x ? x : Float{0};  // NOLINT(misc-redundant-expression): not so for NaN
  const Float above = number < lowest ? lowest : number;
  return static_cast<Integer>(above > highest ? highest : above);
}

struct ToS32 {
  // Clamps to the largest float below 2^31 and sets larger results explicitly.
  static HWY_INLINE int32_t Of(float x) {
    const auto inside = Truncate<int32_t>(x, -2147483648.0f, 2147483520.0f);
    return x >= 2147483648.0f ? INT32_MAX : inside;
  }
  static HWY_INLINE int32_t Of(double x) { return Truncate<int32_t>(x, -2147483648.0, 2147483647.0); }
};

struct ToS64 {
  static HWY_INLINE int64_t Of(float x) {
    const auto inside = Truncate<int64_t>(x, -9223372036854775808.0f, 9223371487098961920.0f);
    return x >= 9223372036854775808.0f ? INT64_MAX : inside;
  }
  static HWY_INLINE int64_t Of(double x) {
    const auto inside = Truncate<int64_t>(x, -9223372036854775808.0, 9223372036854774784.0);
    return x >= 9223372036854775808.0 ? INT64_MAX : inside;
  }
};

struct ToU64 {
  static HWY_INLINE uint64_t Of(double x) {
    constexpr double kHalf = 9223372036854775808.0;
    const bool upper = x >= kHalf;
    const auto lower = static_cast<uint64_t>(ToS64::Of(upper ? x - kHalf : x));
    const uint64_t value = upper ? lower | uint64_t{1} << 63 : lower;
    return x >= 2 * kHalf ? UINT64_MAX : value;
  }
};

struct ToOdd {
  static HWY_INLINE float Of(double x) {
    // Rounds to nearest, corrects toward zero, then sets the last bit if anything was lost.
    uint32_t bits = std::bit_cast<uint32_t>(static_cast<float>(x));
    const auto nearest = static_cast<double>(std::bit_cast<float>(bits));
    bits -= std::fabs(nearest) > std::fabs(x) ? 1 : 0;
    const auto truncated = static_cast<double>(std::bit_cast<float>(bits));
    bits |= truncated != x ? 1 : 0;
    return std::bit_cast<float>(bits);
  }
};

// Rounds integers to odd in a double. Those of more than 53 bits lose their last 11, far below float32's
// precision.
struct ToOddDouble {
  static HWY_INLINE double Of(uint64_t x) { return static_cast<double>(x >> 53 != 0 ? WithoutLow(x) : x); }
  static HWY_INLINE double Of(int64_t x) {
    constexpr uint64_t kExact = uint64_t{1} << 53;
    const auto bits = static_cast<uint64_t>(x);
    return static_cast<double>(static_cast<int64_t>(bits + kExact > 2 * kExact ? WithoutLow(bits) : bits));
  }
  static HWY_INLINE uint64_t WithoutLow(uint64_t x) {
    const uint64_t rest = x & 0x7FF;
    return (x - rest) | (rest != 0 ? 0x800 : 0);
  }
};

template <class Op, class From>
void Each(const void* source, void* destination, size_t n) {
  const auto* const HWY_RESTRICT from = static_cast<const unsigned char*>(source);
  auto* const HWY_RESTRICT to = static_cast<unsigned char*>(destination);
  using To = decltype(Op::Of(From{}));
  for (size_t i = 0; i < n; ++i) {
    From x;
    std::memcpy(&x, from + i * sizeof x, sizeof x);
    const To y = Op::Of(x);
    std::memcpy(to + i * sizeof y, &y, sizeof y);
  }
}

struct NamedPass {
  Pass pass;
  ConvertFunction convert;
};
constexpr NamedPass kPasses[] = {
    {Pass::kS8ToF32, Each<Cast<float>, int8_t>},
    {Pass::kU8ToF32, Each<Cast<float>, uint8_t>},
    {Pass::kS16ToF32, Each<Cast<float>, int16_t>},
    {Pass::kU16ToF32, Each<Cast<float>, uint16_t>},
    {Pass::kBoolToF32, Each<FromBool<float>, uint8_t>},
    {Pass::kS32ToF32, Each<Cast<float>, int32_t>},
    {Pass::kS64ToF32, Each<Cast<float>, int64_t>},
    {Pass::kU64ToF32, Each<Cast<float>, uint64_t>},
    {Pass::kF64ToF32, Each<Cast<float>, double>},
    {Pass::kS64ToOdd, Each<ToOddDouble, int64_t>},
    {Pass::kU64ToOdd, Each<ToOddDouble, uint64_t>},
    {Pass::kF64ToOdd, Each<ToOdd, double>},
    {Pass::kF32ToF64, Each<Cast<double>, float>},
    {Pass::kS32ToF64, Each<Cast<double>, int32_t>},
    {Pass::kU32ToF64, Each<Cast<double>, uint32_t>},
    {Pass::kS64ToF64, Each<Cast<double>, int64_t>},
    {Pass::kU64ToF64, Each<Cast<double>, uint64_t>},
    {Pass::kF32ToS32, Each<ToS32, float>},
    {Pass::kF32ToS64, Each<ToS64, float>},
    {Pass::kF64ToS32, Each<ToS32, double>},
    {Pass::kF64ToS64, Each<ToS64, double>},
    {Pass::kF64ToU64, Each<ToU64, double>},
    {Pass::kS8ToS64, Each<Cast<int64_t>, int8_t>},
    {Pass::kU8ToS64, Each<Cast<int64_t>, uint8_t>},
    {Pass::kS16ToS64, Each<Cast<int64_t>, int16_t>},
    {Pass::kU16ToS64, Each<Cast<int64_t>, uint16_t>},
    {Pass::kS32ToS64, Each<Cast<int64_t>, int32_t>},
    {Pass::kU32ToS64, Each<Cast<int64_t>, uint32_t>},
    {Pass::kS8ToS32, Each<Cast<int32_t>, int8_t>},
    {Pass::kU8ToS32, Each<Cast<int32_t>, uint8_t>},
    {Pass::kS16ToS32, Each<Cast<int32_t>, int16_t>},
    {Pass::kU16ToS32, Each<Cast<int32_t>, uint16_t>},
    {Pass::kS32ToS8, Each<Cast<int8_t>, int32_t>},
    {Pass::kS32ToS16, Each<Cast<int16_t>, int32_t>},
    {Pass::kS64ToS8, Each<Cast<uint8_t>, uint64_t>},
    {Pass::kS64ToS16, Each<Cast<uint16_t>, uint64_t>},
    {Pass::kS64ToS32, Each<Cast<uint32_t>, uint64_t>},
    {Pass::kBits8ToBool, Each<IsNotZero, uint8_t>},
    {Pass::kBits16ToBool, Each<IsNotZero, uint16_t>},
    {Pass::kBits32ToBool, Each<IsNotZero, uint32_t>},
    {Pass::kBits64ToBool, Each<IsNotZero, uint64_t>},
    {Pass::kF32ToBool, Each<IsNotZero, float>},
    {Pass::kF64ToBool, Each<IsNotZero, double>},
    {Pass::kC64ToBool, Each<EitherIsNotZero, Pair32>},
    {Pass::kC128ToBool, Each<EitherIsNotZero, Pair64>},
    {Pass::kF32ToC64, Each<WithZero, float>},
    {Pass::kF64ToC128, Each<WithZero, double>},
};

// Returns nullptr for kNone.
ConvertFunction FindPass(Pass pass) {
  for (const NamedPass& named : kPasses) {
    if (named.pass == pass) return named.convert;
  }
  return nullptr;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "base/data_type.h"
#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kFindPass = PORTACL_ISA_TABLE(FindPass);

// The types between two passes.
enum class Type : uint8_t {
  kS8,
  kU8,
  kS16,
  kU16,
  kS32,
  kU32,
  kS64,
  kU64,
  kF16,
  kBf16,
  kE4m3,
  kE5m2,
  kHiFloat,
  kPower,
  kF32,
  kF64,
  kBool,
  kC64,
  kC128,
  kOther
};

Type TypeOf(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8:
      return Type::kS8;
    case ACL_UINT8:
      return Type::kU8;
    case ACL_INT16:
      return Type::kS16;
    case ACL_UINT16:
      return Type::kU16;
    case ACL_INT32:
      return Type::kS32;
    case ACL_UINT32:
      return Type::kU32;
    case ACL_INT64:
      return Type::kS64;
    case ACL_UINT64:
      return Type::kU64;
    case ACL_FLOAT16:
      return Type::kF16;
    case ACL_BF16:
      return Type::kBf16;
    case ACL_FLOAT8_E4M3FN:
      return Type::kE4m3;
    case ACL_FLOAT8_E5M2:
      return Type::kE5m2;
    case ACL_HIFLOAT8:
      return Type::kHiFloat;
    case ACL_FLOAT8_E8M0:
      return Type::kPower;
    case ACL_FLOAT:
      return Type::kF32;
    case ACL_DOUBLE:
      return Type::kF64;
    case ACL_BOOL:
      return Type::kBool;
    case ACL_COMPLEX64:
      return Type::kC64;
    case ACL_COMPLEX128:
      return Type::kC128;
    default:
      return Type::kOther;
  }
}

// Tells whether both are integers of the same width.
bool HaveSameBits(Type a, Type b) {
  return a <= Type::kU64 && b <= Type::kU64 && static_cast<int>(a) / 2 == static_cast<int>(b) / 2;
}
bool IsInteger(Type type) { return type <= Type::kU64; }
// Tells whether a type is a float of 16 or of 8 bits.
bool IsHalf(Type type) { return type >= Type::kF16 && type <= Type::kPower; }
bool IsPair(Type type) { return type == Type::kC64 || type == Type::kC128; }

// A pass, and the type of its result.
struct Step {
  Pass pass;
  Type type;
};

Step ToBool(Type from) {
  switch (from) {
    case Type::kS8:
    case Type::kU8:
    case Type::kBool:
      return {Pass::kBits8ToBool, Type::kBool};
    case Type::kS16:
    case Type::kU16:
      return {Pass::kBits16ToBool, Type::kBool};
    case Type::kS32:
    case Type::kU32:
      return {Pass::kBits32ToBool, Type::kBool};
    case Type::kS64:
    case Type::kU64:
      return {Pass::kBits64ToBool, Type::kBool};
    case Type::kF32:
      return {Pass::kF32ToBool, Type::kBool};
    case Type::kF64:
      return {Pass::kF64ToBool, Type::kBool};
    case Type::kC64:
      return {Pass::kC64ToBool, Type::kBool};
    default:
      return {Pass::kC128ToBool, Type::kBool};
  }
}

Step ToInteger(Type from, Type to) {
  if (to == Type::kS32 || to == Type::kU32) {
    switch (from) {
      case Type::kS8:
        return {Pass::kS8ToS32, Type::kS32};
      case Type::kU8:
        return {Pass::kU8ToS32, Type::kS32};
      case Type::kS16:
        return {Pass::kS16ToS32, Type::kS32};
      case Type::kU16:
        return {Pass::kU16ToS32, Type::kS32};
      default:
        break;
    }
  }
  if (from == Type::kS32 && (to == Type::kS8 || to == Type::kU8)) return {Pass::kS32ToS8, Type::kS8};
  if (from == Type::kS32 && (to == Type::kS16 || to == Type::kU16)) return {Pass::kS32ToS16, Type::kS16};
  switch (from) {
    case Type::kS8:
      return {Pass::kS8ToS64, Type::kS64};
    case Type::kU8:
      return {Pass::kU8ToS64, Type::kS64};
    case Type::kS16:
      return {Pass::kS16ToS64, Type::kS64};
    case Type::kU16:
      return {Pass::kU16ToS64, Type::kS64};
    case Type::kS32:
      return {Pass::kS32ToS64, Type::kS64};
    case Type::kU32:
      return {Pass::kU32ToS64, Type::kS64};
    case Type::kBool:
      return {Pass::kBits8ToBool, Type::kU8};
    case Type::kF32:
      if (to == Type::kS32) return {Pass::kF32ToS32, to};
      if (to == Type::kU64) return {Pass::kF32ToF64, Type::kF64};
      return {Pass::kF32ToS64, Type::kS64};
    case Type::kF64:
      if (to == Type::kS32) return {Pass::kF64ToS32, to};
      if (to == Type::kU64) return {Pass::kF64ToU64, to};
      return {Pass::kF64ToS64, Type::kS64};
    default:
      break;
  }
  switch (to) {
    case Type::kS8:
    case Type::kU8:
      return {Pass::kS64ToS8, to};
    case Type::kS16:
    case Type::kU16:
      return {Pass::kS64ToS16, to};
    default:
      return {Pass::kS64ToS32, to};
  }
}

// `to` is a float, a 16-bit float or a pair.
Step ToFloat(Type from, Type to) {
  const bool is_wide = to == Type::kF64 || to == Type::kC128;
  switch (from) {
    case Type::kS8:
      return {Pass::kS8ToF32, Type::kF32};
    case Type::kU8:
      return {Pass::kU8ToF32, Type::kF32};
    case Type::kS16:
      return {Pass::kS16ToF32, Type::kF32};
    case Type::kU16:
      return {Pass::kU16ToF32, Type::kF32};
    case Type::kBool:
      return {Pass::kBoolToF32, Type::kF32};
    case Type::kS32:
      if (is_wide || IsHalf(to)) return {Pass::kS32ToF64, Type::kF64};
      return {Pass::kS32ToF32, Type::kF32};
    case Type::kU32:
      return {Pass::kU32ToF64, Type::kF64};
    case Type::kS64:
      if (IsHalf(to)) return {Pass::kS64ToOdd, Type::kF64};
      if (is_wide) return {Pass::kS64ToF64, Type::kF64};
      return {Pass::kS64ToF32, Type::kF32};
    case Type::kU64:
      if (IsHalf(to)) return {Pass::kU64ToOdd, Type::kF64};
      if (is_wide) return {Pass::kU64ToF64, Type::kF64};
      return {Pass::kU64ToF32, Type::kF32};
    case Type::kF32:
      if (to == Type::kC64) return {Pass::kF32ToC64, to};
      return {Pass::kF32ToF64, Type::kF64};
    default:
      if (to == Type::kC128) return {Pass::kF64ToC128, to};
      return {IsHalf(to) ? Pass::kF64ToOdd : Pass::kF64ToF32, Type::kF32};
  }
}

// The widest element of any type.
constexpr size_t kWidest = 16;
// Elements that go through all passes before the next ones: two tiles stay in the first-level cache.
constexpr size_t kConversionTile = 512;

int32_t SizeOf(aclDataType dtype) { return static_cast<int32_t>((StorageBits(dtype) + 7) / 8); }

}  // namespace

aclDataType ConvertedPart(aclDataType from, aclDataType to) noexcept {
  if (!IsPair(TypeOf(from)) || IsPair(TypeOf(to)) || to == ACL_BOOL || from == to) return from;
  return from == ACL_COMPLEX64 ? ACL_FLOAT : ACL_DOUBLE;
}

bool IsConvertible(aclDataType dtype) noexcept { return TypeOf(dtype) != Type::kOther; }

Conversion FindConversion(Isa isa, aclDataType from, aclDataType to) noexcept {
  Conversion conversion;
  conversion.from_size = SizeOf(from);
  conversion.to_size = SizeOf(to);
  const Type goal = TypeOf(to);
  Type type = TypeOf(from);
  if (from == to || HaveSameBits(type, goal)) return conversion;
  const auto add = [&]() -> ConversionPass& { return conversion.pass[conversion.passes++]; };
  if (IsHalf(type)) {
    add().load = FindLoad(isa, from, ACL_FLOAT);
    type = Type::kF32;
  }
  if (IsPair(type) && IsPair(goal)) {
    ConversionPass& pass = add();
    pass.convert = kFindPass.For(isa)(goal == Type::kC128 ? Pass::kF32ToF64 : Pass::kF64ToF32);
    pass.numbers = 2;
    return conversion;
  }
  while (type != goal && !HaveSameBits(type, goal)) {
    if (type == Type::kF32 && IsHalf(goal)) {
      add().store = FindStore(isa, to);
      return conversion;
    }
    const Step step = goal == Type::kBool ? ToBool(type)
                      : IsInteger(goal)   ? ToInteger(type, goal)
                                          : ToFloat(type, goal);
    add().convert = kFindPass.For(isa)(step.pass);
    type = step.type;
  }
  return conversion;
}

Conversion FindConversionThrough(Isa isa, aclDataType from, aclDataType via, aclDataType to) noexcept {
  Conversion whole = FindConversion(isa, from, via);
  const Conversion rest = FindConversion(isa, via, to);
  for (int i = 0; i < rest.passes; ++i) whole.pass[whole.passes++] = rest.pass[i];
  whole.to_size = rest.to_size;
  return whole;
}

const Conversion& ConversionBetween(Isa isa, aclDataType from, aclDataType to) noexcept {
  constexpr size_t kTypes = static_cast<size_t>(Type::kOther) + 1;
  constexpr size_t kNumbers = static_cast<size_t>(ACL_FLOAT8_E8M0) + 1;
  using Table = std::array<std::array<Conversion, kTypes>, kTypes>;
  static std::array<Table, std::size(IsaTable<ConvertFunction>{}.function)> tables;
  static std::array<std::once_flag, tables.size()> made;
  const auto set = static_cast<size_t>(isa);
  Table& table = tables[set];
  std::call_once(made[set], [&] {
    for (size_t i = 0; i < kNumbers; ++i) {
      for (size_t j = 0; j < kNumbers; ++j) {
        const auto source = static_cast<aclDataType>(i);
        const auto destination = static_cast<aclDataType>(j);
        if (IsConvertible(source) && IsConvertible(destination))
          table[static_cast<size_t>(TypeOf(source))][static_cast<size_t>(TypeOf(destination))] =
              FindConversion(isa, ConvertedPart(source, destination), destination);
      }
    }
  });
  return table[static_cast<size_t>(TypeOf(from))][static_cast<size_t>(TypeOf(to))];
}

void Conversion::Run(const void* source, void* destination, size_t n, bool stream) const noexcept {
  if (passes == 1) return pass[0].Run(source, destination, n, stream);
  alignas(64) unsigned char tile[2][kConversionTile * kWidest];
  const auto* from = static_cast<const unsigned char*>(source);
  auto* to = static_cast<unsigned char*>(destination);
  while (n > 0) {
    const size_t count = std::min(n, kConversionTile);
    pass[0].Run(from, tile[0], count, false);
    for (int i = 1; i + 1 < passes; ++i) pass[i].Run(tile[(i + 1) % 2], tile[i % 2], count, false);
    pass[passes - 1].Run(tile[passes % 2], to, count, stream);
    from += count * static_cast<size_t>(from_size);
    to += count * static_cast<size_t>(to_size);
    n -= count;
  }
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
