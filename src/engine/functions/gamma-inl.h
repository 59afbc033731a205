// The logarithm of the gamma function and its derivative over float32 vectors: within 1 ulp, except near
// their zeros, where the absolute error is about 2^-45.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_GAMMA_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_GAMMA_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_GAMMA_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_GAMMA_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/functions/logarithmic-inl.h"
#include "engine/functions/primitives-inl.h"
#include "engine/functions/reduction-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// Stirling's series serves from here on; smaller arguments get here by the recurrence.
constexpr int kStirlingFrom = 8;

// log(Gamma(x)) for x > 0 in float64 lanes.
template <class D, class V>
HWY_INLINE V LgammaOfPositive(D d, V x) {
  const auto is_small = hn::Lt(x, hn::Set(d, static_cast<double>(kStirlingFrom)));
  V product = x;
  for (int i = 1; i < kStirlingFrom; ++i)
    product = hn::Mul(product, hn::Add(x, hn::Set(d, static_cast<double>(i))));
  const V divisor = hn::IfThenElse(is_small, product, hn::Set(d, 1.0));
  const V z = hn::Add(x, hn::IfThenElseZero(is_small, hn::Set(d, static_cast<double>(kStirlingFrom))));
  const V inverse = hn::Div(hn::Set(d, 1.0), z);
  const V series = Polynomial(d, hn::Mul(inverse, inverse), 1.0 / 156, -691.0 / 360360, 1.0 / 1188,
                              -1.0 / 1680, 1.0 / 1260, -1.0 / 360, 1.0 / 12);
  const V most =
      Fma(d, hn::Sub(z, hn::Set(d, 0.5)), LogInDouble(d, z), hn::Sub(hn::Set(d, 0x1.d67f1c864beb5p-1), z));
  return hn::Sub(Fma(d, inverse, series, most), LogInDouble(d, divisor));
}

// Below 1/2 reflection is used: log(pi / |sin(pi x)|) - log(Gamma(1 - x)).
template <Float32Lanes D, class V>
HWY_INLINE V Lgamma(D d, V x) {
  V result = InDoubles(d, x, [](auto wide, auto v) HWY_ATTR {
    const auto is_reflected = hn::Lt(v, hn::Set(wide, 0.5));
    const auto fraction = hn::Sub(v, NearestEven(wide, v));
    const auto sine = hn::Abs(SinOfTurns(wide, fraction));
    const auto reflection = LogInDouble(wide, hn::Div(hn::Set(wide, 0x1.921fb54442d18p+1), sine));
    const auto other =
        LgammaOfPositive(wide, hn::IfThenElse(is_reflected, hn::Sub(hn::Set(wide, 1.0), v), v));
    return hn::IfThenElse(is_reflected, hn::Sub(reflection, other), other);
  });
  // The result is infinite at 0, at negative integers (all large negative numbers are) and at both
  // infinities.
  const auto is_pole = hn::And(hn::Le(x, hn::Zero(d)), hn::Eq(Trunc(d, x), x));
  result = hn::IfThenElse(hn::Or(is_pole, hn::Eq(hn::Abs(x), Infinity(d))), Infinity(d), result);
  return OrNan(result, x);
}

// Returns the sum of 1 / (x + i) that the recurrence adds to digamma. It is one quotient, or with kExact a
// slower sum term by term.
template <bool kExact, class D, class V>
HWY_INLINE V SumOfReciprocals(D d, V x) {
  const V one = hn::Set(d, 1.0);
  V sum = hn::Zero(d);
  if constexpr (kExact) {
    for (int i = kStirlingFrom - 1; i > 0; --i) {
      sum = hn::Add(sum, hn::Div(one, hn::Add(x, hn::Set(d, static_cast<double>(i)))));
    }
    return hn::Add(sum, hn::Div(one, x));
  }
  V product = x;
  sum = one;
  for (int i = 1; i < kStirlingFrom; ++i) {
    const V factor = hn::Add(x, hn::Set(d, static_cast<double>(i)));
    sum = Fma(d, sum, factor, product);
    product = hn::Mul(product, factor);
  }
  return hn::Div(sum, product);
}

// The derivative of log(Gamma(x)) for x > 0 in float64 lanes. `log` is the logarithm to use; SLEEF's has the
// larger range.
template <bool kExact, class D, class V, class F>
HWY_INLINE V DigammaOfPositive(D d, V x, const F& log) {
  const auto is_small = hn::Lt(x, hn::Set(d, static_cast<double>(kStirlingFrom)));
  const V steps = hn::IfThenElseZero(is_small, SumOfReciprocals<kExact>(d, x));
  const V z = hn::Add(x, hn::IfThenElseZero(is_small, hn::Set(d, static_cast<double>(kStirlingFrom))));
  const V inverse = hn::Div(hn::Set(d, 1.0), z);
  const V square = hn::Mul(inverse, inverse);
  const V series = Polynomial(d, square, 43867.0 / 14364, -3617.0 / 8160, 1.0 / 12, -691.0 / 32760, 1.0 / 132,
                              -1.0 / 240, 1.0 / 252, -1.0 / 120, 1.0 / 12);
  const V most = hn::Sub(log(d, z), Fma(d, square, series, hn::Mul(hn::Set(d, 0.5), inverse)));
  return hn::Sub(most, steps);
}

// Below 0 reflection is used: digamma(1 - x) - pi / tan(pi x).
template <bool kExact, class D, class V, class F>
HWY_INLINE V DigammaInDouble(D d, V x, const F& log) {
  const auto is_reflected = hn::Lt(x, hn::Zero(d));
  const V fraction = hn::Sub(x, NearestEven(d, x));
  const V cotangent =
      hn::Div(hn::Mul(hn::Set(d, 0x1.921fb54442d18p+1), CosOfTurns(d, fraction)), SinOfTurns(d, fraction));
  const V other =
      DigammaOfPositive<kExact>(d, hn::IfThenElse(is_reflected, hn::Sub(hn::Set(d, 1.0), x), x), log);
  return hn::IfThenElse(is_reflected, hn::Sub(other, cotangent), other);
}

// At 0 the result is infinite with the sign of -x. At negative integers, which all large negative numbers
// are, it is NaN.
template <class D, class V>
HWY_INLINE V WithLimitsOfDigamma(D d, V result, V x) {
  const V zero = hn::Zero(d);
  const auto is_pole = hn::And(hn::Lt(x, zero), hn::Eq(Trunc(d, x), x));
  result = hn::IfThenElse(is_pole, NotANumber(d), result);
  result = hn::IfThenElse(hn::Eq(x, zero), hn::CopySign(Infinity(d), hn::Neg(x)), result);
  return OrNan(hn::IfThenElse(hn::Eq(x, Infinity(d)), x, result), x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Digamma(D d, V x) {
  const V result = InDoubles(d, x, [](auto wide, auto v) HWY_ATTR {
    return DigammaInDouble<false>(wide, v, [](auto same, auto z) HWY_ATTR { return LogInDouble(same, z); });
  });
  return WithLimitsOfDigamma(d, result, x);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
