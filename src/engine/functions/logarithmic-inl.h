// Functions made of logarithms over float32 vectors: the nearest float32 but for a few cases.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_LOGARITHMIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_LOGARITHMIC_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_LOGARITHMIC_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_LOGARITHMIC_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>
#include "engine/functions/exponential-inl.h"
#include "engine/functions/log-inl.h"
#include "engine/functions/steps-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// The logarithm of a positive float64 from 2^-150 to 2^361, by the steps and the table of Log: 2^-52, relative to the
// result also near 1.
template <class D, class V>
HWY_INLINE V LogInDouble(D, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  // kLogStart as float64.
  const auto offset = hn::Sub(bits, hn::Set(du, 0x3FE6555560000000));
  const auto m = hn::Sub(bits, hn::And(offset, hn::Set(du, 0xFFF0000000000000)));
  const auto parts = hn::Add(hn::ShiftRight<48>(offset), hn::Set(du, 16 * 150));
  return LogOfParts(du, parts, m);
}

// log(1 + x) for float64 lanes above -1: what 1 + x loses counts where x is small.
template <class D, class V>
HWY_INLINE V Log1pInDouble(D d, V x) {
  const V large = LogInDouble(d, hn::Add(hn::Set(d, 1.0), x));
  const V series = Polynomial(d, x, 0.2, -0.25, 1.0 / 3, -0.5);
  const V small = Fma(d, hn::Mul(x, x), series, x);
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-11)), small, large);
}

// What logarithms of x have in common where it is not a positive finite number.
template <class D, class V>
HWY_INLINE V WithLimitsOfLog(D d, V result, V x) {
  const V infinity = Infinity(d);
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  result = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), NotANumber(d), result);
  return OrNan(hn::IfThenElse(hn::Eq(x, infinity), infinity, result), x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log(D d, V x) {
  return HWY_NAMESPACE::Log(d, x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log2(D d, V x) {
  const V result = InDoubles(d, x, [](auto wide, auto t) HWY_ATTR {
    return hn::Mul(LogInDouble(wide, t), hn::Set(wide, 0x1.71547652b82fep+0));
  });
  return WithLimitsOfLog(d, result, x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log10(D d, V x) {
  const V result = InDoubles(d, x, [](auto wide, auto t) HWY_ATTR {
    return hn::Mul(LogInDouble(wide, t), hn::Set(wide, 0x1.bcb7b1526e50ep-2));
  });
  return WithLimitsOfLog(d, result, x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log1p(D d, V x) {
  const V result = InDoubles(d, x, [](auto wide, auto t) HWY_ATTR { return Log1pInDouble(wide, t); });
  const V minus_one = hn::Set(d, -1.0f);
  const V limited = hn::IfThenElse(hn::Eq(x, minus_one), hn::Neg(Infinity(d)),
                                   hn::IfThenElse(hn::Lt(x, minus_one), NotANumber(d), result));
  return OrNan(hn::IfThenElse(hn::Eq(x, Infinity(d)), x, limited), x);
}

// log(x + sqrt(x^2 + 1)) as log(1 + x + (sqrt(x^2 + 1) - 1)), where nothing cancels.
template <Float32Lanes D, class V>
HWY_INLINE V Asinh(D d, V x) {
  const V a = hn::Abs(x);
  const V result = InDoubles(d, a, [](auto wide, auto t) HWY_ATTR {
    const auto z = hn::Mul(t, t);
    const auto one = hn::Set(wide, 1.0);
    const auto more = hn::Div(z, hn::Add(hn::Sqrt(hn::Add(z, one)), one));
    return Log1pInDouble(wide, hn::Add(t, more));
  });
  return OrNan(hn::IfThenElse(hn::Eq(a, Infinity(d)), x, WithSignOf(d, result, x)), x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Acosh(D d, V x) {
  const V result = InDoubles(d, x, [](auto wide, auto t) HWY_ATTR {
    const auto one = hn::Set(wide, 1.0);
    return LogInDouble(wide, hn::Add(t, hn::Sqrt(hn::Mul(hn::Sub(t, one), hn::Add(t, one)))));
  });
  const V limited = hn::IfThenElse(hn::Lt(x, hn::Set(d, 1.0f)), NotANumber(d), result);
  return OrNan(hn::IfThenElse(hn::Eq(x, Infinity(d)), x, limited), x);
}

// Half the logarithm of (1 + x) / (1 - x) = 1 + 2x / (1 - x).
template <Float32Lanes D, class V>
HWY_INLINE V Atanh(D d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0f);
  const V result = InDoubles(d, a, [](auto wide, auto t) HWY_ATTR {
    const auto twice = hn::Add(t, t);
    return hn::Mul(hn::Set(wide, 0.5), Log1pInDouble(wide, hn::Div(twice, hn::Sub(hn::Set(wide, 1.0), t))));
  });
  const V limited =
      hn::IfThenElse(hn::Lt(a, one), result, hn::IfThenElse(hn::Eq(a, one), Infinity(d), NotANumber(d)));
  return OrNan(WithSignOf(d, limited, x), x);
}

// |x|^y = exp(y log|x|) in float64; then the cases of C.
template <Float32Lanes D, class V>
HWY_INLINE V Pow(D d, V x, V y) {
  const V a = hn::Abs(x);
  const V magnitude = InDoubles(d, a, y, [](auto wide, auto base, auto exponent) HWY_ATTR {
    const auto huge = hn::Set(wide, 1e300);
    auto log = LogInDouble(wide, base);
    log = hn::IfThenElse(hn::Eq(base, hn::Zero(wide)), hn::Neg(huge), log);
    log = hn::IfThenElse(hn::Eq(base, Infinity(wide)), huge, log);
    // 1 to any power, an infinite one too.
    const auto product = hn::IfThenElse(hn::Eq(log, hn::Zero(wide)), log, hn::Mul(exponent, log));
    return ExpInDouble(wide, product);
  });
  const auto is_integer = hn::Eq(Trunc(d, y), y);
  const auto is_odd = hn::And(is_integer, IsOdd(d, y));
  V result = hn::Or(magnitude, hn::IfThenElseZero(is_odd, hn::And(x, hn::SignBit(d))));
  const auto is_finite_negative = hn::And(hn::Lt(x, hn::Zero(d)), hn::Lt(a, Infinity(d)));
  result = hn::IfThenElse(hn::AndNot(is_integer, is_finite_negative), NotANumber(d), result);
  result = OrNan(OrNan(result, x), y);
  const V one = hn::Set(d, 1.0f);
  return hn::IfThenElse(hn::Or(hn::Eq(y, hn::Zero(d)), hn::Eq(x, one)), one, result);
}

// log(exp(x) + exp(y)) = max + log(1 + exp(-|x - y|)); kBase2: of powers of 2.
template <bool kBase2, class D, class V>
HWY_INLINE V LogOfSumOfPowers(D d, V x, V y) {
  const V result = InDoubles(d, x, y, [](auto wide, auto a, auto b) HWY_ATTR {
    const auto greater = hn::IfThenElse(hn::Lt(a, b), b, a);
    const auto lesser = hn::IfThenElse(hn::Lt(a, b), a, b);
    const auto distance = hn::IfThenElseZero(hn::Not(hn::Eq(a, b)), hn::Sub(lesser, greater));
    if constexpr (kBase2) {
      const auto power = ExpInDouble(wide, hn::Mul(distance, hn::Set(wide, 0x1.62e42fefa39efp-1)));
      return hn::Add(greater, hn::Mul(Log1pInDouble(wide, power), hn::Set(wide, 0x1.71547652b82fep+0)));
    } else {
      return hn::Add(greater, Log1pInDouble(wide, ExpInDouble(wide, distance)));
    }
  });
  return OrNan(OrNan(result, x), y);
}

template <Float32Lanes D, class V>
HWY_INLINE V LogAddExp(D d, V x, V y) {
  return LogOfSumOfPowers<false>(d, x, y);
}

template <Float32Lanes D, class V>
HWY_INLINE V LogAddExp2(D d, V x, V y) {
  return LogOfSumOfPowers<true>(d, x, y);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
