// Floor, Ceil, Round, RoundDecimals, Trunc and Frac: round to integers or decimals, and return fractions.
// SPDX-License-Identifier: Apache-2.0
#include <charconv>
#include <cstdio>
#include <cstring>
#include <limits>
#include <system_error>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/unary/rounding.cc"
#include "base/foreach_target.h"

#include "aclnnop/unary/unary-inl.h"
#include "engine/map/integers-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace rounding {

PORTACL_UNARY_FORMULA(Floor, RealLanes, /*kWith16BitFloats=*/true)
PORTACL_UNARY_FORMULA(Ceil, RealLanes, /*kWith16BitFloats=*/true)
PORTACL_UNARY_FORMULA(Trunc, LaneTypes<float>, /*kWith16BitFloats=*/true)

struct Round : Unary<Round, RealLanes, /*kWith16BitFloats=*/true> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return functions::NearestEven(d, x);
  }
};

struct Frac : Unary<Frac, LaneTypes<float>> {
  using Unary::Unary;
  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    return hn::Sub(x, functions::Trunc(d, x));
  }
};

// Rounds by the mode, which is the formula's number. An unknown mode leaves x unchanged. Integers stay, but
// have the fraction 0.
struct RoundOff : Elementwise<RoundOff> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, int32_t>;
  enum Mode { kNearestEven = 1, kDown, kUp, kNearestAway, kToZero, kToOdd, kFraction };
  static constexpr int kInputs = 1;
  explicit RoundOff(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const auto mode = static_cast<int>(scalars.Get<T>(0));
    if constexpr (std::is_floating_point_v<T>) {
      return Rounded(d, mode, x);
    } else {
      return mode == kFraction ? hn::Zero(d) : x;
    }
  }

  template <class D, class V>
  static HWY_INLINE V Rounded(D d, int mode, V x) {
    const V whole = functions::Trunc(d, x);
    const V beyond = hn::Sub(x, whole);
    const V next = hn::Add(whole, functions::WithSignOf(d, hn::Set(d, 1.0f), x));
    switch (mode) {
      case kNearestEven:
        return functions::NearestEven(d, x);
      case kDown:
        return functions::Floor(d, x);
      case kUp:
        return functions::Ceil(d, x);
      case kNearestAway:
        return hn::IfThenElse(hn::Ge(hn::Abs(beyond), hn::Set(d, 0.5f)), next, whole);
      case kToZero:
        return whole;
      case kToOdd:
        return hn::IfThenElse(hn::Or(functions::IsOdd(d, whole), hn::Eq(x, whole)), whole, next);
      case kFraction:
        return beyond;
      default:
        return x;
    }
  }

  engine::Scalars scalars;
};

// Rounds to a multiple of p, a power of ten, or of 1 / p. Floats are rounded after each of three operations.
// Integers are computed exactly; the result wraps modulo 2^n. Scalar 0 is p. Scalar 1 is 1 for multiples of p.
struct RoundDecimals : Elementwise<RoundDecimals> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int64_t>;
  static constexpr int kInputs = 1;
  explicit RoundDecimals(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V x) const {
    using T = hn::TFromD<D>;
    const T power = scalars.Get<T>(0);
    if constexpr (std::is_floating_point_v<T>) {
      const V p = hn::Set(d, power);
      const bool to_multiples = scalars.Get<T>(1) == T{1};
      const V rounded = functions::NearestEven(d, to_multiples ? hn::Div(x, p) : hn::Mul(x, p));
      return to_multiples ? hn::Mul(rounded, p) : hn::Div(rounded, p);
    } else {
      return engine::HWY_NAMESPACE::EachLane(
          d, [power](T value) { return ToMultiple(value, power); }, x);
    }
  }

  static int64_t ToMultiple(int64_t value, int64_t power) {
    const auto p = static_cast<uint64_t>(power);
    const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
    uint64_t quotient = magnitude / p;
    const uint64_t rest = magnitude % p;
    if (rest > p / 2 || (rest == p / 2 && (quotient & 1) != 0)) ++quotient;
    const uint64_t result = quotient * p;
    return static_cast<int64_t>(value < 0 ? 0 - result : result);
  }

  engine::Scalars scalars;
};

}  // namespace rounding
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "aclnnop/jobs/rounding.h"
#include "aclnnop/unary/rounding_functions.h"
#include "aclnnop/unary/unary.h"

namespace portacl {
namespace {

using IntegersAs = UnaryRules::IntegersAs;
using Formats = UnaryRules::Formats;

constexpr DtypeSet kFloorIntegers = kIntegers | kUnsignedSince16Bits;
constexpr DtypeRule kFloorDtypes = WithBf16SinceAtlasA2(kRealFloating | kFloorIntegers);
constexpr DtypeRule kRoundDtypes =
    Everywhere(kRealFloating | kBf16 | DtypeSet(ACL_INT32, ACL_INT64))
        .On({Product::kAtlasTraining}, kRealFloating | DtypeSet(ACL_INT32, ACL_INT64));
constexpr DtypeRule kTruncDtypes = ByGeneration(kFloatAndHalf, kFloatHalfAndBf16,
                                                kFloatHalfAndBf16 | DtypeSet(ACL_INT8, ACL_UINT8, ACL_INT32));
constexpr DtypeRule kFracDtypes = WithBf16SinceAtlasA2(kFloatAndHalf | kIntegers);

constexpr auto kFloorKernels = PORTACL_VALUE_KERNELS(rounding::Floor);
constexpr UnaryRules kFloor{.kernels = kFloorKernels,
                            .self = kFloorDtypes,
                            .integers = IntegersAs::kThemselves,
                            .formats = Formats::kNotPrivate,
                            .in_place = kFloorDtypes,
                            .copied = kFloorIntegers,
                            .needs_sleef = {}};

constexpr auto kCeilKernels = PORTACL_VALUE_KERNELS(rounding::Ceil);
constexpr UnaryRules kCeil{.kernels = kCeilKernels,
                           .self = kRealFloatingDtypes,
                           .integers = IntegersAs::kThemselves,
                           .needs_sleef = {}};

constexpr auto kRoundKernels = PORTACL_VALUE_KERNELS(rounding::Round);
constexpr UnaryRules kRound{.kernels = kRoundKernels,
                            .self = kRoundDtypes,
                            .integers = IntegersAs::kThemselves,
                            .formats = Formats::kNotPrivate,
                            .in_place = kRoundDtypes,
                            .copied = kIntegers,
                            .needs_sleef = {}};

constexpr auto kTruncKernels = PORTACL_VALUE_KERNELS(rounding::Trunc);
constexpr UnaryRules kTrunc{.kernels = kTruncKernels,
                            .self = kTruncDtypes,
                            .integers = IntegersAs::kThemselves,
                            .copied = kIntegers,
                            .needs_sleef = {}};

constexpr auto kFracKernels = PORTACL_VALUE_KERNELS(rounding::Frac);
constexpr UnaryRules kFrac{.kernels = kFracKernels,
                           .self = kFracDtypes,
                           .integers = IntegersAs::kThemselves,
                           .in_place = kFracDtypes,
                           .zeroed = kIntegers,
                           .needs_sleef = {}};

constexpr auto kRoundOffKernels = PORTACL_VALUE_KERNELS(rounding::RoundOff);
constexpr auto kRoundDecimalsKernels = PORTACL_VALUE_KERNELS(rounding::RoundDecimals);

// Returns the T nearest to 10^n, or infinity beyond its range.
template <class T>
T PowerOfTen(uint64_t n) {
  char text[24];
  const int length = std::snprintf(text, sizeof text, "1e%llu", static_cast<unsigned long long>(n));
  T value = 0;
  const std::from_chars_result parsed = std::from_chars(text, text + length, value);
  return parsed.ec == std::errc() ? value : std::numeric_limits<T>::infinity();
}

template <class T>
void SetPower(uint64_t digits, bool to_multiples, engine::Scalars& scalars) {
  const T values[] = {PowerOfTen<T>(digits), to_multiples ? T{1} : T{0}};
  for (int i = 0; i < 2; ++i) std::memcpy(scalars.bytes[i], &values[i], sizeof(T));
}

void SetRounding(const OperatorCall& call, int64_t decimals, int out, Executor& executor) noexcept {
  using unary::kSelf;
  const bool is_integer = kIntegers.Contains(call.promoted);
  if (is_integer && decimals >= 0) return SetMoveJob(call, kSelf, out, executor);
  if (decimals == 0) return SetMapJob(call, {kSelf}, out, kRoundKernels, engine::Scalars{}, executor);
  const bool to_multiples = decimals < 0;
  const uint64_t digits =
      to_multiples ? 0 - static_cast<uint64_t>(decimals) : static_cast<uint64_t>(decimals);
  engine::Scalars scalars;
  if (is_integer) {
    // The type has no such digit, so the result is 0.
    if (digits > (call.promoted == ACL_INT32 ? 9u : 18u))
      return SetFillJob(call, out, ScalarValue{}, executor);
    int64_t power = 1;
    for (uint64_t i = 0; i < digits; ++i) power *= 10;
    std::memcpy(scalars.bytes[0], &power, sizeof power);
  } else if (call.promoted == ACL_DOUBLE) {
    SetPower<double>(digits, to_multiples, scalars);
  } else {
    SetPower<float>(digits, to_multiples, scalars);
  }
  SetMapJob(call, {kSelf}, out, kRoundDecimalsKernels, scalars, executor);
}

}  // namespace

const engine::KernelTable& RoundOffKernels() noexcept { return kRoundOffKernels; }

PORTACL_UNARY_KERNELS(floor, kFloor)
PORTACL_UNARY_KERNELS(ceil, kCeil)
PORTACL_UNARY_KERNELS(round, kRound)
PORTACL_UNARY_KERNELS(trunc, kTrunc)
PORTACL_UNARY_KERNELS(frac, kFrac)

}  // namespace portacl

using namespace portacl;

PORTACL_UNARY(Floor, kFloor)
PORTACL_UNARY(Ceil, kCeil)
PORTACL_UNARY(Round, kRound)

PORTACL_PHASE_1(aclnnRoundDecimals) {
  static constexpr UnaryChecks kChecks = ChecksOf(kRound, /*in_place=*/false);
  return RunPhase1(call, kChecks.All(), workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetRounding(checked, given.decimals, unary::kOut, fresh);
                   });
}

PORTACL_PHASE_1(aclnnInplaceRoundDecimals) {
  static constexpr UnaryChecks kChecks = ChecksOf(kRound, /*in_place=*/true);
  return RunPhase1(call, kChecks.All(), workspaceSize, executor,
                   [&](const OperatorCall& checked, Executor& fresh) {
                     SetRounding(checked, given.decimals, unary::kSelf, fresh);
                   });
}

PORTACL_UNARY(Trunc, kTrunc)
PORTACL_UNARY(Frac, kFrac)

#endif  // HWY_ONCE
