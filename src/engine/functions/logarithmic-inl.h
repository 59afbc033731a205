// Functions made of logarithms over float32 vectors, nearly always the nearest float32.
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
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// Returns the logarithm of a positive float64 from 2^-150 to 2^361, by Log's table and fused steps. The
// relative error is 2^-51, also near 1.
template <class D, class V>
HWY_INLINE V LogInDouble(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const auto bits = hn::BitCast(du, x);
  // kLogStart as float64.
  const auto offset = hn::Sub(bits, hn::Set(du, 0x3FE6555560000000));
  const V m = hn::BitCast(d, hn::Sub(bits, hn::And(offset, hn::Set(du, 0xFFF0000000000000))));
  // The upper 12 bits are n. Adding them as an integer puts n into the low bits of 1.5 * 2^52.
  const hn::RebindToSigned<D> di;
  const V shift = RoundingShift(d);
  const auto exponent = hn::BitCast(du, hn::ShiftRight<52>(hn::BitCast(di, offset)));
  const V n = hn::Sub(hn::BitCast(d, hn::Add(exponent, hn::BitCast(du, shift))), shift);
  const auto interval = hn::ShiftRight<48>(offset);
  const V r = Fma(d, m, EntryOf16(d, interval, kLogInverse), hn::Set(d, -1.0));
  const V r2 = hn::Mul(r, r);
  const V rest =
      hn::Add(r, Fma(d, n, hn::Set(d, 0x1.ef35793c76730p-45), EntryOf16(d, interval, kLogOfCentre)));
  const V q01 = Fma(d, r, hn::Set(d, 0x1.55555555d9a31p-2), hn::Set(d, -0x1.000000001f89dp-1));
  const V q23 = Fma(d, r, hn::Set(d, 0x1.999985c22105cp-3), hn::Set(d, -0x1.fffff20b8b6b1p-3));
  const V q45 = Fma(d, r, hn::Set(d, 0x1.25095306a9f0cp-3), hn::Set(d, -0x1.55c2cb58edda0p-3));
  const V q = Fma(d, r2, Fma(d, r2, q45, q23), q01);
  return Fma(d, n, hn::Set(d, 0x1.62e42fefa3800p-1), Fma(d, r2, q, rest));
}

// Returns log(1 + x) for x from 0 to 2^361. The rounding error of 1 + x is added where it is large enough to
// matter.
template <class D, class V>
HWY_INLINE V Log1pInDouble(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V sum = hn::Add(one, x);
  const V rest = hn::IfThenElseZero(hn::Lt(x, one), hn::Sub(x, hn::Sub(sum, one)));
  return hn::Add(LogInDouble(d, sum), rest);
}

// Returns x where |x| < below: there x is the float nearest to log(1 + x), or to half of log((1 + x) / (1 -
// x)).
template <class D, class V>
HWY_INLINE V OrItself(D d, V result, V x, float below) {
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, below)), x, result);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log(D d, V x) {
  return HWY_NAMESPACE::Log(d, x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log2(D d, V x) {
  return ScaledLog(d, x, 0x1.71547652b82fep+0);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log10(D d, V x) {
  return ScaledLog(d, x, 0x1.bcb7b1526e50ep-2);
}

template <Float32Lanes D, class V>
HWY_INLINE V Log1p(D d, V x) {
  // From 2^-29 on 1 + x is exact.
  const V large = InDoubles(
      d, x, [](auto wide, auto t) HWY_ATTR { return LogInDouble(wide, hn::Add(hn::Set(wide, 1.0), t)); });
  const V result = OrItself(d, large, x, 0x1p-26f);
  const V minus_one = hn::Set(d, -1.0f);
  const V limited = hn::IfThenElse(hn::Eq(x, minus_one), hn::Neg(Infinity(d)),
                                   hn::IfThenElse(hn::Lt(x, minus_one), NotANumber(d), result));
  return OrNan(hn::IfThenElse(hn::Eq(x, Infinity(d)), x, limited), x);
}

// log(x + sqrt(x^2 + 1)) is computed as log(1 + x + (sqrt(x^2 + 1) - 1)), where nothing cancels.
template <Float32Lanes D, class V>
HWY_INLINE V Asinh(D d, V x) {
  const V a = hn::Abs(x);
  const V result = InDoubles(d, a, [](auto wide, auto t) HWY_ATTR {
    const auto z = hn::Mul(t, t);
    const auto one = hn::Set(wide, 1.0);
    const auto more = hn::Div(z, hn::Add(hn::Sqrt(hn::Add(z, one)), one));
    return LogInDouble(wide, hn::Add(one, hn::Add(t, more)));
  });
  const V magnitude = OrItself(d, result, a, 0x1p-13f);
  return OrNan(hn::IfThenElse(hn::Eq(a, Infinity(d)), x, WithSignOf(d, magnitude, x)), x);
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

// Half the logarithm of (1 + x) / (1 - x).
template <Float32Lanes D, class V>
HWY_INLINE V Atanh(D d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0f);
  const V result = InDoubles(d, a, [](auto wide, auto t) HWY_ATTR {
    const auto unit = hn::Set(wide, 1.0);
    return hn::Mul(hn::Set(wide, 0.5), LogInDouble(wide, hn::Div(hn::Add(unit, t), hn::Sub(unit, t))));
  });
  const V limited = hn::IfThenElse(hn::Lt(a, one), OrItself(d, result, a, 0x1p-13f),
                                   hn::IfThenElse(hn::Eq(a, one), Infinity(d), NotANumber(d)));
  return OrNan(WithSignOf(d, limited, x), x);
}

// Computes |x|^y = exp(y log|x|) in float64, then applies the special cases of C.
template <Float32Lanes D, class V>
HWY_INLINE V Pow(D d, V x, V y) {
  const V a = hn::Abs(x);
  const V magnitude = InDoubles(d, a, y, [](auto wide, auto base, auto exponent) HWY_ATTR {
    const auto huge = hn::Set(wide, 1e300);
    auto log = LogInDouble(wide, base);
    log = hn::IfThenElse(hn::Eq(base, hn::Zero(wide)), hn::Neg(huge), log);
    log = hn::IfThenElse(hn::Eq(base, Infinity(wide)), huge, log);
    // 1 to any power is 1, to an infinite one too.
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

// The bits of 2^(k / 16), less k 2^48. Adding 16 m + k, shifted left by 48, makes them 2^(m + k / 16).
alignas(64) constexpr double kPowersOfTwoSixteenths[16] = {0x1p+0,
                                                           0x1.fb5586cf9890fp-1,
                                                           0x1.f72b83c7d517bp-1,
                                                           0x1.f387a6e756238p-1,
                                                           0x1.f06fe0a31b715p-1,
                                                           0x1.edea64c123422p-1,
                                                           0x1.ebfdad5362a27p-1,
                                                           0x1.eab07dd485429p-1,
                                                           0x1.ea09e667f3bcdp-1,
                                                           0x1.ea11473eb0187p-1,
                                                           0x1.eace5422aa0dbp-1,
                                                           0x1.ec49182a3f090p-1,
                                                           0x1.ee89f995ad3adp-1,
                                                           0x1.f199bdd85529cp-1,
                                                           0x1.f5818dcfba487p-1,
                                                           0x1.fa4afa2a490dap-1};
// 1 / c and log(c) for numbers from 1 to 2, with c near 1 + k / 15.49; the last c is 2.
alignas(64) constexpr double kLogOfSumInverse[16] = {
    1.0,           0x1.e0f33ep-1, 0x1.c573d4p-1, 0x1.aced6ap-1,
    0x1.96eb7cp-1, 0x1.830d60p-1, 0x1.710cc8p-1, 0x1.60a40cp-1,
    0x1.51a05ap-1, 0x1.43d998p-1, 0x1.37232ap-1, 0x1.2b63acp-1,
    0x1.208426p-1, 0x1.165c78p-1, 0x1.0cef60p-1, 0.5};
alignas(64) constexpr double kLogOfSumCentre[16] = {0.0,
                                                    0x1.003fedeb0fe8fp-4,
                                                    0x1.f164fdf8797aep-4,
                                                    0x1.6a9259c65f882p-3,
                                                    0x1.d671565445b37p-3,
                                                    0x1.1e7ab33230038p-2,
                                                    0x1.4f4007535a430p-2,
                                                    0x1.7dd2d8a0b0a4bp-2,
                                                    0x1.aa60c340b807bp-2,
                                                    0x1.d5098d99e782fp-2,
                                                    0x1.fe0b576f9a05dp-2,
                                                    0x1.12ba94a50161fp-1,
                                                    0x1.25ab68b00a6dcp-1,
                                                    0x1.3803f063c75bcp-1,
                                                    0x1.49a7527ee77ccp-1,
                                                    0x1.62e42fefa39efp-1};

// Returns log(1 + e) in float64 lanes, where x <= 0 and e is exp(x), or 2^x with kBase2. The relative error
// is 2^-51 also where e is small. Powers and logarithms have tables of 16 entries, which leave a remainder of
// at most 0.033.
template <bool kBase2, class D, class V>
HWY_INLINE V LogOfOneAndPower(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V shift = RoundingShift(d);
  const V shifted = Fma(d, x, hn::Set(d, kBase2 ? 16.0 : 0x1.71547652b82fep+4), shift);
  const V n = hn::Sub(shifted, shift);
  V r = FmaNegated(d, n, hn::Set(d, kBase2 ? 0.0625 : 0x1.62e42fefa39efp-5), x);
  if constexpr (kBase2) r = hn::Mul(r, hn::Set(d, 0x1.62e42fefa39efp-1));
  const auto sixteenths = hn::BitCast(du, shifted);
  const auto power = hn::BitCast(du, EntryOf16(d, sixteenths, kPowersOfTwoSixteenths));
  const V scale = hn::BitCast(d, hn::Add(power, hn::ShiftLeft<48>(sixteenths)));
  const V r2 = hn::Mul(r, r);
  const V p23 = Fma(d, r, hn::Set(d, 0x1.55555554dcc9bp-3), hn::Set(d, 0.5));
  const V p45 = Fma(d, r, hn::Set(d, 0x1.11120b77051e7p-7), hn::Set(d, 0x1.55555555190f9p-5));
  const V p46 = Fma(d, r2, hn::Set(d, 0x1.6c17bbd1f560ap-10), p45);
  const V p = Fma(d, r2, Fma(d, r2, p46, p23), r);
  const V e = Fma(d, scale, p, scale);

  const auto interval = hn::BitCast(du, Fma(d, e, hn::Set(d, 15.49), shift));
  const V inverse = EntryOf16(d, interval, kLogOfSumInverse);
  const V t = Fma(d, e, inverse, hn::Sub(inverse, hn::Set(d, 1.0)));
  const V t2 = hn::Mul(t, t);
  const V q01 = Fma(d, t, hn::Set(d, 0x1.5555555591e17p-2), hn::Set(d, -0x1.0000000000000p-1));
  const V q23 = Fma(d, t, hn::Set(d, 0x1.99998b6a0dbe3p-3), hn::Set(d, -0x1.00000000367e8p-2));
  const V q45 = Fma(d, t, hn::Set(d, 0x1.24fc9e3cca186p-3), hn::Set(d, -0x1.55554890db968p-3));
  const V q46 = Fma(d, t2, hn::Set(d, -0x1.005fb3780883ep-3), q45);
  const V q = Fma(d, t2, Fma(d, t2, q46, q23), q01);
  return Fma(d, t2, q, hn::Add(t, EntryOf16(d, interval, kLogOfSumCentre)));
}

// log(exp(x) + exp(y)) = max + log(1 + exp(-|x - y|)); with kBase2 the same for powers of 2.
template <bool kBase2, class D, class V>
HWY_INLINE V LogOfSumOfPowers(D d, V x, V y) {
  const auto is_less = hn::Lt(x, y);
  const V greater = hn::IfThenElse(is_less, y, x);
  const V lesser = hn::IfThenElse(is_less, x, y);
  const V result = InDoubles(d, greater, lesser, [](auto wide, auto a, auto b) HWY_ATTR {
    // Clamps the distance: beyond it the power counts as 0. Two equal infinities, whose distance is NaN,
    // count as far apart, too.
    const auto least = hn::Set(wide, -700.0);
    const auto distance = hn::Sub(b, a);
    const auto near = hn::IfThenElse(hn::Lt(least, distance), distance, least);
    const auto more = LogOfOneAndPower<kBase2>(wide, near);
    // With base 2 and equal arguments the result is exactly max + 1.
    if constexpr (kBase2) return hn::Add(a, hn::Mul(more, hn::Set(wide, 0x1.71547652b82fep+0)));
    return hn::Add(a, more);
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
