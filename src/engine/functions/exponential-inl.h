// Functions made of exponentials, over float32 vectors: within 1 ulp.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_EXPONENTIAL_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_EXPONENTIAL_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_EXPONENTIAL_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_EXPONENTIAL_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/functions/exp-inl.h"
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// Splits exp(x) in float64 lanes into scale (1 + p), scale = 2^n, p = exp(x - n ln2) - 1, 2^-51. Arguments
// beyond 700 are taken as 700.
template <class D, class V>
HWY_INLINE V ExpParts(D d, V x, V& scale) {
  const hn::RebindToSigned<D> di;
  const V shift = RoundingShift(d);
  const V clamped = hn::Min(hn::Set(d, 700.0), hn::Max(hn::Set(d, -700.0), x));
  const V shifted = Fma(d, clamped, hn::Set(d, 0x1.71547652b82fep+0), shift);
  const V n = hn::Sub(shifted, shift);
  const V high = FmaNegated(d, n, hn::Set(d, 0x1.62e42fefa39efp-1), clamped);
  const V r = FmaNegated(d, n, hn::Set(d, 0x1.abc9e3b39803fp-56), high);
  const V q = Polynomial(d, r, 0x1.270714394d1edp-22, 0x1.72e9c2289bd78p-19, 0x1.a01b7e323d6cap-16,
                         0x1.a0198cc6a5a80p-13, 0x1.6c16c0c6f9e88p-10, 0x1.11111125daad7p-7,
                         0x1.55555555898ecp-5, 0x1.5555555550703p-3, 0x1.ffffffffffecep-2);
  scale =
      hn::BitCast(d, hn::Add(hn::ShiftLeft<52>(hn::BitCast(di, shifted)), hn::BitCast(di, hn::Set(d, 1.0))));
  return Fma(d, hn::Mul(r, r), q, r);
}

template <class D, class V>
HWY_INLINE V ExpInDouble(D d, V x) {
  V scale;
  const V p = ExpParts(d, x, scale);
  return Fma(d, scale, p, scale);
}

template <Float32Lanes D, class V>
HWY_INLINE V Exp(D d, V x) {
  return HWY_NAMESPACE::Exp(d, x);
}

// x = n + r; 2^r = 1 + r ln2 + r q(r) (2^-27.8 of the result). The first ln2 is a float32; q contains the
// rest of it.
template <Float32Lanes D, class V>
HWY_INLINE V Exp2(D d, V x) {
  const V clamped = hn::Min(hn::Set(d, 129.0f), hn::Max(hn::Set(d, -151.0f), x));
  const V shift = RoundingShift(d);
  const V shifted = hn::Add(clamped, shift);
  const V n = hn::Sub(shifted, shift);
  const V r = hn::Sub(clamped, n);
  const V q = Polynomial(d, r, 0x1.3921f2p-13f, 0x1.5f46eep-10f, 0x1.3b3936p-7f, 0x1.c6aedap-5f,
                         0x1.ebfbcep-3f, 0x1.5ec284p-26f);
  const V p = Fma(d, r, hn::Set(d, 0x1.62e43p-1f), hn::Mul(r, q));
  return ScaledOrNaN(d, hn::Add(hn::Set(d, 1.0f), p), n, shifted, x);
}

// Returns 0 for -0.
template <class D, class V>
HWY_INLINE V Expm1InDouble(D d, V x) {
  V scale;
  const V p = ExpParts(d, x, scale);
  return Fma(d, scale, p, hn::Sub(scale, hn::Set(d, 1.0)));
}

template <Float32Lanes D, class V>
HWY_INLINE V Expm1(D d, V x) {
  const V result = InDoubles(d, x, [](auto wide, auto t) HWY_ATTR { return Expm1InDouble(wide, t); });
  return OrNan(hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, result), x);
}

// Computes exp(x) for -104 <= x <= 0 as `high` plus a small `low`, 2^-28. The reduction is that of Exp with
// fused steps. The rounding error of the reduced number is carried along.
template <class D, class V>
HWY_INLINE void ExpInTwoParts(D d, V x, V& high, V& low) {
  const hn::RebindToSigned<D> di;
  const V shift = RoundingShift(d);
  const V shifted = Fma(d, x, hn::Set(d, 0x1.715476p0f), shift);
  const V n = hn::Sub(shifted, shift);
  const V first = FmaNegated(d, n, hn::Set(d, 0x1.62e43p-1f), x);
  const V rest = hn::Set(d, -0x1.05c61p-29f);
  const V r = FmaNegated(d, n, rest, first);
  const V lost = FmaNegated(d, n, rest, hn::Sub(first, r));
  const V q =
      Polynomial(d, r, 0x1.6a23a8p-10f, 0x1.123a36p-7f, 0x1.5558f4p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f);
  const V tail = Fma(d, hn::Mul(r, r), q, lost);
  const V one = hn::Set(d, 1.0f);
  const V more = hn::Add(r, tail);
  const V sum = hn::Add(one, more);
  const V error = hn::Add(hn::Add(hn::Sub(one, sum), more), hn::Add(hn::Sub(r, more), tail));
  // Multiplies by 2^n in two factors, since n reaches -150.
  const auto whole = hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x4B400000));
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const V scale1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V scale2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  high = hn::Mul(hn::Mul(sum, scale1), scale2);
  low = hn::Mul(hn::Mul(error, scale1), scale2);
}

// Computes numerator / (1 + e) in two parts. e = high + low lies in 0 to 1; the numerator is above + below.
template <class D, class V>
HWY_INLINE void OverOnePlus(D d, V high, V low, V above, V below, V& quotient, V& error) {
  const V one = hn::Set(d, 1.0f);
  const V sum = hn::Add(one, high);
  const V rest = hn::Add(hn::Add(hn::Sub(one, sum), high), low);
  const V inverse = hn::Div(one, sum);
  quotient = hn::Mul(above, inverse);
  const V remainder = hn::Add(FmaNegated(d, quotient, sum, above), FmaNegated(d, quotient, rest, below));
  error = hn::Mul(remainder, inverse);
}

// Sigmoid from -80 on: 1 / (1 + 2^-n + 2^-n p), where exp(-x) = 2^-n (1 + p). The rounding errors of divisor
// and quotient are corrected by one factor 1 + e near 1. From 18 on the result is 1. V is a vector or
// Unrolled.
template <Float32Lanes D, class V>
HWY_INLINE V SigmoidOfUsual(D d, const V& x) {
  using hn::Add;
  using hn::Mul;
  using hn::Sub;
  using One = hn::Vec<D>;
  const V one = hn::Set(d, 1.0f);
  const V shift = RoundingShift(d);
  const V clamped = EachVector(
      d, [d](One v) HWY_ATTR { return hn::Min(hn::Set(d, 18.0f), v); }, x);
  const V shifted = Fma(d, clamped, hn::Set(d, 0x1.715476p0f), shift);
  const V n = Sub(shifted, shift);
  // This step is exact; the rest of n ln2 is smaller than its last bit.
  const V first = FmaNegated(d, n, hn::Set(d, 0x1.62e43p-1f), clamped);
  const V low = Mul(n, hn::Set(d, -0x1.05c61p-29f));
  const V r = Sub(first, low);
  const V q =
      Polynomial(d, r, 0x1.6a23a8p-10f, -0x1.123a36p-7f, 0x1.5558f4p-5f, -0x1.55549p-3f, 0x1.fffffcp-2f);
  const V p = Sub(Fma(d, Mul(r, r), q, low), first);
  const V power = EachVector(
      d,
      [d](One v) HWY_ATTR {
        const hn::RebindToSigned<D> di;
        const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, v));
        return hn::BitCast(d, hn::Sub(hn::BitCast(di, hn::Set(d, 1.0f)), exponent));
      },
      shifted);
  const V sum = Add(power, one);
  const V divisor = Fma(d, power, p, sum);
  // The part of the one that rounding the sum has lost (within 2^-25), and the rounding error of the divisor.
  const V lost = Sub(one, Sub(sum, power));
  const V rest = Add(Fma(d, power, p, Sub(sum, divisor)), lost);
  const V inverse = EachVector(
      d, [d](One v) HWY_ATTR { return hn::Div(hn::Set(d, 1.0f), v); }, divisor);
  const V e = FmaNegated(d, rest, inverse, FmaNegated(d, divisor, inverse, one));
  return Fma(d, inverse, e, inverse);
}

// Sigmoid, given SigmoidOfUsual's result as `usual`. Below -80 it is exp(x), which may be subnormal.
template <Float32Lanes D, class V>
HWY_INLINE V SigmoidFrom(D d, V usual, V x) {
  const auto is_usual = hn::Lt(hn::Set(d, -80.0f), x);
  if (HWY_LIKELY(hn::AllTrue(d, is_usual))) return usual;
  return hn::IfThenElse(is_usual, usual, Exp(d, x));
}

template <Float32Lanes D, class V>
HWY_INLINE V Sigmoid(D d, V x) {
  return SigmoidFrom(d, SigmoidOfUsual(d, x), x);
}

// Uses x + x^3 t(x^2) up to 0.55 (2^-29.8), then 1 - 2 e / (1 + e), e = exp(-2|x|).
template <Float32Lanes D, class V>
HWY_INLINE V Tanh(D d, V x) {
  const V a = hn::Abs(x);
  V high;
  V low;
  ExpInTwoParts(d, hn::Max(hn::Set(d, -104.0f), hn::Mul(hn::Set(d, -2.0f), a)), high, low);
  V quotient;
  V error;
  OverOnePlus(d, high, low, high, low, quotient, error);
  const V one = hn::Set(d, 1.0f);
  const V two = hn::Set(d, 2.0f);
  const V most = FmaNegated(d, two, quotient, one);
  const V rest = FmaNegated(d, two, hn::Add(quotient, error), hn::Sub(one, most));
  const V large = hn::Add(most, rest);

  const V z = hn::Mul(a, a);
  const V t =
      Polynomial(d, z, -0x1.9c949p-8f, 0x1.598276p-6f, -0x1.b931fcp-5f, 0x1.110d6ap-3f, -0x1.55554cp-2f);
  const V small = Fma(d, hn::Mul(a, z), t, a);
  return OrNan(WithSignOf(d, hn::IfThenElse(hn::Lt(a, hn::Set(d, 0.55f)), small, large), x), x);
}

// Uses Taylor's series up to 1/2.
template <Float32Lanes D, class V>
HWY_INLINE V Sinh(D d, V x) {
  const V result = InDoubles(d, hn::Abs(x), [](auto wide, auto a) HWY_ATTR {
    const auto e = ExpInDouble(wide, a);
    const auto half = hn::Set(wide, 0.5);
    const auto large = hn::Mul(half, hn::Sub(e, hn::Div(hn::Set(wide, 1.0), e)));
    const auto z = hn::Mul(a, a);
    const auto s = Polynomial(wide, z, 1.0 / 39916800, 1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6);
    return hn::IfThenElse(hn::Lt(a, half), Fma(wide, hn::Mul(a, z), s, a), large);
  });
  return OrNan(WithSignOf(d, result, x), x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Cosh(D d, V x) {
  const V result = InDoubles(d, x, [](auto wide, auto t) HWY_ATTR {
    const auto e = ExpInDouble(wide, t);
    return hn::Mul(hn::Set(wide, 0.5), hn::Add(e, hn::Div(hn::Set(wide, 1.0), e)));
  });
  return OrNan(result, x);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
