// Integer arithmetic on vectors that Highway lacks on some targets: modulo 2^n, never trapping. Compiled once
// per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_MAP_INTEGERS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_MAP_INTEGERS_INL_H_
#undef PORTACL_ENGINE_MAP_INTEGERS_INL_H_
#else
#define PORTACL_ENGINE_MAP_INTEGERS_INL_H_
#endif

#include <cstddef>
#include <type_traits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Applies f to each lane, for operations that no instruction set has vectors for.
template <class D, class F, class... V>
HWY_INLINE auto EachLane(D d, const F& f, V... v) {
  using T = hn::TFromD<D>;
  constexpr size_t kLanes = HWY_MAX_BYTES / sizeof(T);
  HWY_ALIGN T in[sizeof...(V)][kLanes];
  HWY_ALIGN T out[kLanes];
  size_t k = 0;
  (..., hn::Store(v, d, in[k++]));
  for (size_t i = 0; i < hn::Lanes(d); ++i) {
    if constexpr (sizeof...(V) == 1) {
      out[i] = f(in[0][i]);
    } else {
      out[i] = f(in[0][i], in[1][i]);
    }
  }
  return hn::Load(d, out);
}

// Returns a * b, for integers modulo 2^n.
template <class D, class V>
HWY_INLINE V Multiply([[maybe_unused]] D d, V a, V b) {
  using T = hn::TFromD<D>;
  if constexpr (!std::is_integral_v<T> || sizeof(T) == 2 || sizeof(T) == 4) {
    return hn::Mul(a, b);
  } else {
#if HWY_TARGET == HWY_SCALAR
    using U = std::make_unsigned_t<T>;
    return hn::Set(d, static_cast<T>(static_cast<U>(hn::GetLane(a)) * static_cast<U>(hn::GetLane(b))));
#else
    if constexpr (sizeof(T) == 1) {
      // Multiplies even elements in the low halves of wider lanes, odd ones in the high halves.
      const hn::RepartitionToWide<hn::RebindToUnsigned<D>> pairs;
      const auto a_pairs = hn::BitCast(pairs, a);
      const auto b_pairs = hn::BitCast(pairs, b);
      const auto low = hn::Set(pairs, uint16_t{0xFF});
      const auto even = hn::And(hn::Mul(a_pairs, b_pairs), low);
      const auto odd = hn::Mul(hn::ShiftRight<8>(a_pairs), hn::AndNot(low, b_pairs));
      return hn::BitCast(d, hn::Or(even, odd));
    } else {
      const hn::RepartitionToNarrow<hn::RebindToUnsigned<D>> halves;
      const hn::RebindToUnsigned<D> wide;
      const auto a_low = hn::BitCast(halves, a);
      const auto b_low = hn::BitCast(halves, b);
      const auto a_high = hn::BitCast(halves, hn::ShiftRight<32>(hn::BitCast(wide, a)));
      const auto b_high = hn::BitCast(halves, hn::ShiftRight<32>(hn::BitCast(wide, b)));
      const auto mixed = hn::Add(hn::MulEven(a_low, b_high), hn::MulEven(a_high, b_low));
      return hn::BitCast(d, hn::Add(hn::MulEven(a_low, b_low), hn::ShiftLeft<32>(mixed)));
    }
#endif
  }
}

// Returns base ^ exponent modulo 2^n. For negative exponents it is 0 unless the base is 1 or -1.
template <class D, class V>
HWY_INLINE V IntegerPower(D d, V base, V exponent) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, T{1});
  const auto is_odd = hn::Eq(hn::And(exponent, one), one);
  V power = one;
  V factor = base;
  for (V rest = hn::Max(exponent, zero); !hn::AllTrue(d, hn::Eq(rest, zero));
       rest = hn::ShiftRight<1>(rest)) {
    const auto is_factor = hn::Eq(hn::And(rest, one), one);
    power = hn::IfThenElse(is_factor, Multiply(d, power, factor), power);
    factor = Multiply(d, factor, factor);
  }
  const V minus_one = hn::Set(d, T{-1});
  const V of_minus_one = hn::IfThenElse(is_odd, minus_one, one);
  const V of_one = hn::IfThenElse(hn::Eq(base, one), one, zero);
  const V inverse = hn::IfThenElse(hn::Eq(base, minus_one), of_minus_one, of_one);
  return hn::IfThenElse(hn::Lt(exponent, zero), inverse, power);
}

// Quotients and remainders of integers. Division by 0 sets all bits of both, as CANN's golden results for
// Ascend 950 have it. The least number divided by -1 is itself.
template <class T>
T TruncatedQuotient(T a, T b) {
  if (b == 0) return -1;
  return b == -1 ? static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(a)) : a / b;
}
template <class T>
T TruncatedRemainder(T a, T b) {
  if (b == 0) return -1;
  return b == -1 ? 0 : a % b;
}
// Rounds the quotient down; the remainder has the divisor's sign.
template <class T>
T FlooredQuotient(T a, T b) {
  const bool is_above = b != 0 && (a < 0) != (b < 0) && TruncatedRemainder(a, b) != 0;
  return TruncatedQuotient(a, b) - (is_above ? 1 : 0);
}
template <class T>
T FlooredRemainder(T a, T b) {
  const T rest = TruncatedRemainder(a, b);
  return b != 0 && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// FlooredRemainder of vectors. 64-bit integers of magnitudes below 2^52 are divided in float64: the rounding
// error of a quotient is smaller than its distance from the next integer, and the subtracted product is
// exact.
template <class D, class V>
HWY_INLINE V FlooredRemainders(D d, V a, V b) {
  using T = hn::TFromD<D>;
  if constexpr (sizeof(T) == 8) {
    const auto limit = hn::Set(d, T{1} << 52);
    const auto zero = hn::Zero(d);
    const auto is_small = [&](V v) HWY_ATTR { return hn::And(hn::Lt(v, limit), hn::Gt(v, hn::Neg(limit))); };
    if (hn::AllTrue(d, hn::And(hn::And(is_small(a), is_small(b)), hn::Ne(b, zero)))) {
      const hn::RebindToFloat<D> df;
      const auto real = hn::ConvertTo(df, a);
      const auto divisor = hn::ConvertTo(df, b);
      const auto rest = hn::ConvertTo(d, hn::Sub(real, hn::Mul(hn::Trunc(hn::Div(real, divisor)), divisor)));
      const auto is_apart = hn::And(hn::Ne(rest, zero), hn::Lt(hn::Xor(rest, b), zero));
      return hn::Add(rest, hn::IfThenElseZero(is_apart, b));
    }
  }
  return EachLane(
      d, [](T x, T y) { return FlooredRemainder(x, y); }, a, b);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
