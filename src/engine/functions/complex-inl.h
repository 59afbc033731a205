// Functions of complex numbers, as float64 vectors of real and imaginary parts. Each part is within a few ulp
// where nothing cancels. Branch cuts, zeros and infinities are those of C. A function takes the parts x and y of
// its argument and sets those of its result: scalable vectors cannot be members of a struct of two.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_COMPLEX_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_COMPLEX_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_COMPLEX_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_COMPLEX_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/functions/float64-inl.h"
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

template <class D, class V>
HWY_INLINE auto IsFinite(D d, V x) {
  return hn::Lt(hn::Abs(x), Infinity(d));
}
template <class D, class V>
HWY_INLINE auto IsInfinite(D d, V x) {
  return hn::Eq(hn::Abs(x), Infinity(d));
}

// Multiplies both parts by a power of 2, so that neither squares nor quotients of them overflow or underflow.
// Multiplying by `back` undoes it.
template <Float64Lanes D, class V>
HWY_INLINE void Scale(D d, V& x, V& y, V& back) {
  const V width = hn::Abs(x);
  const V height = hn::Abs(y);
  const V most = hn::IfThenElse(hn::Gt(height, width), height, width);
  const auto is_large = hn::Gt(most, hn::Set(d, 0x1p500));
  const auto is_small = hn::Lt(most, hn::Set(d, 0x1p-400));
  const V small = hn::Set(d, 0x1p-600);
  const V large = hn::Set(d, 0x1p600);
  const V one = hn::Set(d, 1.0);
  const V scale = hn::IfThenElse(is_large, small, hn::IfThenElse(is_small, large, one));
  back = hn::IfThenElse(is_large, large, hn::IfThenElse(is_small, small, one));
  x = hn::Mul(x, scale);
  y = hn::Mul(y, scale);
}

// Returns |z|; z has passed through Scale.
template <Float64Lanes D, class V>
HWY_INLINE V ModulusOfScaled(D d, V x, V y) {
  const V width = hn::Abs(x);
  const V height = hn::Abs(y);
  const auto is_steep = hn::Gt(height, width);
  const V more = hn::IfThenElse(is_steep, height, width);
  const V less = hn::IfThenElse(is_steep, width, height);
  return hn::Sqrt(Fma(d, more, more, hn::Mul(less, less)));
}

template <Float64Lanes D, class V>
HWY_INLINE V Modulus(D d, V x, V y) {
  V scaled_x = x;
  V scaled_y = y;
  V back;
  Scale(d, scaled_x, scaled_y, back);
  const V modulus = hn::Mul(ModulusOfScaled(d, scaled_x, scaled_y), back);
  const auto is_infinite = hn::Or(IsInfinite(d, x), IsInfinite(d, y));
  return hn::IfThenElse(is_infinite, Infinity(d), OrNan(OrNan(modulus, x), y));
}

template <Float64Lanes D, class V>
HWY_INLINE void Abs(D d, V x, V y, V& real, V& imaginary) {
  real = Modulus(d, x, y);
  imaginary = hn::Zero(d);
}

// Returns z / |z|, and 0 for z = 0.
template <Float64Lanes D, class V>
HWY_INLINE void Sign(D d, V x, V y, V& real, V& imaginary) {
  V back;
  Scale(d, x, y, back);
  const V modulus = ModulusOfScaled(d, x, y);
  const V divisor = hn::IfThenElse(hn::Eq(modulus, hn::Zero(d)), hn::Set(d, 1.0), modulus);
  real = hn::Div(x, divisor);
  imaginary = hn::Div(y, divisor);
}

// Returns 1 / z: NaN for 0, 0 for infinity.
template <Float64Lanes D, class V>
HWY_INLINE void Reciprocal(D d, V x, V y, V& real, V& imaginary) {
  V scaled_x = x;
  V scaled_y = y;
  V back;
  Scale(d, scaled_x, scaled_y, back);
  const V square = Fma(d, scaled_x, scaled_x, hn::Mul(scaled_y, scaled_y));
  const auto is_infinite = hn::Or(IsInfinite(d, x), IsInfinite(d, y));
  // 1 / z = s / (s z), and s = 1 / back.
  const V inverse_back = hn::Div(hn::Set(d, 1.0), back);
  const V inverse_x = hn::Mul(hn::Div(scaled_x, square), inverse_back);
  const V inverse_y = hn::Neg(hn::Mul(hn::Div(scaled_y, square), inverse_back));
  const V zero = hn::Zero(d);
  real = hn::IfThenElse(is_infinite, WithSignOf(d, zero, x), inverse_x);
  imaginary = hn::IfThenElse(is_infinite, WithSignOf(d, zero, hn::Neg(y)), inverse_y);
}

template <Float64Lanes D, class V>
HWY_INLINE void Sqrt(D d, V x, V y, V& real, V& imaginary) {
  // Scales by a power of 4, so that the sum does not overflow and the modulus is no rounded subnormal.
  const V width = hn::Abs(x);
  const V height = hn::Abs(y);
  const V most = hn::IfThenElse(hn::Gt(height, width), height, width);
  const auto is_large = hn::Gt(most, hn::Set(d, 0x1p1000));
  const auto is_small = hn::Lt(most, hn::Set(d, 0x1p-900));
  const V one = hn::Set(d, 1.0);
  const V half = hn::Set(d, 0.5);
  const V scale =
      hn::IfThenElse(is_large, hn::Set(d, 0x1p-4), hn::IfThenElse(is_small, hn::Set(d, 0x1p108), one));
  const V back =
      hn::IfThenElse(is_large, hn::Set(d, 0x1p2), hn::IfThenElse(is_small, hn::Set(d, 0x1p-54), one));
  const V scaled_x = hn::Mul(x, scale);
  const V scaled_y = hn::Mul(y, scale);
  const V sum = hn::Add(hn::Abs(scaled_x), Modulus(d, scaled_x, scaled_y));
  const V root = hn::Sqrt(hn::Mul(half, sum));
  const V other = hn::Div(hn::Mul(half, hn::Abs(scaled_y)), root);
  const auto is_left = hn::Lt(x, hn::Zero(d));
  const V root_x = hn::Mul(hn::IfThenElse(is_left, other, root), back);
  const V root_y = hn::Mul(hn::IfThenElse(is_left, root, other), back);
  const auto is_zero = hn::And(hn::Eq(width, hn::Zero(d)), hn::Eq(height, hn::Zero(d)));
  const auto is_tall = IsInfinite(d, y);
  real = hn::IfThenElse(is_tall, Infinity(d), hn::IfThenElseZero(hn::Not(is_zero), root_x));
  imaginary = hn::IfThenElse(hn::Or(is_zero, is_tall), y, hn::CopySign(root_y, y));
}

template <Float64Lanes D, class V>
HWY_INLINE void Rsqrt(D d, V x, V y, V& real, V& imaginary) {
  V root_x;
  V root_y;
  Sqrt(d, x, y, root_x, root_y);
  Reciprocal(d, root_x, root_y, real, imaginary);
}

// e^x (cos y, sin y). Multiplies by e^x in two factors where e^x alone would overflow.
template <Float64Lanes D, class V>
HWY_INLINE void Exp(D d, V x, V y, V& real, V& imaginary) {
  const V one = hn::Set(d, 1.0);
  const auto is_large = hn::Gt(x, hn::Set(d, 700.0));
  const V factor = FromSleef<SleefFunction::kExp>(hn::IfThenElse(is_large, hn::Mul(x, hn::Set(d, 0.5)), x));
  const V again = hn::IfThenElse(is_large, factor, one);
  real = hn::Mul(hn::Mul(factor, Cos(d, y)), again);
  imaginary = hn::Mul(hn::Mul(factor, Sin(d, y)), again);
  const auto is_unbounded = hn::Not(IsFinite(d, y));
  const auto is_vanishing = hn::And(is_unbounded, hn::Eq(x, hn::Neg(Infinity(d))));
  real = hn::IfThenElse(hn::And(is_unbounded, hn::Eq(x, Infinity(d))), x, real);
  real = hn::IfThenElseZero(hn::Not(is_vanishing), real);
  imaginary = hn::IfThenElseZero(hn::Not(is_vanishing), imaginary);
  imaginary = hn::IfThenElse(hn::Eq(y, hn::Zero(d)), y, imaginary);
}

template <Float64Lanes D, class V>
HWY_INLINE void Sigmoid(D d, V x, V y, V& real, V& imaginary) {
  V power_x;
  V power_y;
  Exp(d, hn::Neg(x), hn::Neg(y), power_x, power_y);
  Reciprocal(d, hn::Add(hn::Set(d, 1.0), power_x), power_y, real, imaginary);
}

// Returns a + b, and in `error` the rounding error of the sum.
template <class V>
HWY_INLINE V SumAndError(V a, V b, V& error) {
  const V sum = hn::Add(a, b);
  const V part = hn::Sub(sum, a);
  error = hn::Add(hn::Sub(a, hn::Sub(sum, part)), hn::Sub(b, part));
  return sum;
}

// Computes log|z|. Near |z| = 1 it is half of log1p(|z|^2 - 1).
template <Float64Lanes D, class V>
HWY_INLINE void Log(D d, V x, V y, V& real, V& imaginary) {
  const V width = hn::Abs(x);
  const V height = hn::Abs(y);
  const auto is_steep = hn::Gt(height, width);
  const V more = hn::IfThenElse(is_steep, height, width);
  const V less = hn::IfThenElse(is_steep, width, height);
  const V zero = hn::Zero(d);
  const V half = hn::Set(d, 0.5);

  const V more2 = hn::Mul(more, more);
  const V less2 = hn::Mul(less, less);
  const V lost = hn::Add(Fma(d, more, more, hn::Neg(more2)), Fma(d, less, less, hn::Neg(less2)));
  V error1;
  V error2;
  const V sum = SumAndError(SumAndError(more2, hn::Set(d, -1.0), error1), less2, error2);
  const V excess = hn::Add(sum, hn::Add(hn::Add(error1, error2), lost));

  const V slope = hn::IfThenElseZero(hn::Not(hn::Eq(less, zero)), hn::Div(less, more));
  const auto is_near = hn::And(hn::Ge(more, half), hn::Le(more, hn::Set(d, 2.0)));
  const V rest = hn::Mul(half, Log1p(d, hn::IfThenElse(is_near, excess, hn::Mul(slope, slope))));
  const V log = hn::IfThenElse(is_near, rest, hn::Add(Log(d, more), rest));
  const auto is_infinite = hn::Or(IsInfinite(d, width), IsInfinite(d, height));
  real = hn::IfThenElse(is_infinite, Infinity(d), OrNan(OrNan(log, width), height));
  imaginary = Atan2(d, y, x);
}

template <Float64Lanes D, class V>
HWY_INLINE void Log2(D d, V x, V y, V& real, V& imaginary) {
  Log(d, x, y, real, imaginary);
  const V factor = hn::Set(d, 0x1.71547652b82fep+0);
  real = hn::Mul(real, factor);
  imaginary = hn::Mul(imaginary, factor);
}

template <Float64Lanes D, class V>
HWY_INLINE void Log10(D d, V x, V y, V& real, V& imaginary) {
  Log(d, x, y, real, imaginary);
  const V factor = hn::Set(d, 0x1.bcb7b1526e50ep-2);
  real = hn::Mul(real, factor);
  imaginary = hn::Mul(imaginary, factor);
}

// Sets sinh x = sine * again and cosh x = cosine * again. Two factors keep what SLEEF's own functions lose by
// overflowing early.
template <Float64Lanes D, class V>
HWY_INLINE void HyperbolicInFactors(D d, V x, V& sine, V& cosine, V& again) {
  const V a = hn::Abs(x);
  const V half = hn::Set(d, 0.5);
  const auto is_large = hn::Gt(a, hn::Set(d, 700.0));
  const V power = FromSleef<SleefFunction::kExp>(hn::Mul(a, half));
  const V half_power = hn::Mul(half, power);
  sine = hn::IfThenElse(is_large, hn::CopySign(half_power, x), FromSleef<SleefFunction::kSinh>(x));
  cosine = hn::IfThenElse(is_large, half_power, FromSleef<SleefFunction::kCosh>(x));
  again = hn::IfThenElse(is_large, power, hn::Set(d, 1.0));
}

template <Float64Lanes D, class V>
HWY_INLINE void Sinh(D d, V x, V y, V& real, V& imaginary) {
  V sine;
  V cosine;
  V again;
  HyperbolicInFactors(d, x, sine, cosine, again);
  const V zero = hn::Zero(d);
  const V sinh_x = hn::Mul(hn::Mul(sine, Cos(d, y)), again);
  const V sinh_y = hn::Mul(hn::Mul(cosine, Sin(d, y)), again);
  // Defines 0 times infinity or NaN as 0, and infinity times NaN as infinity.
  const auto is_kept = hn::Or(hn::And(hn::Eq(x, zero), hn::Not(IsFinite(d, y))),
                              hn::And(IsInfinite(d, x), hn::Not(IsFinite(d, y))));
  real = hn::IfThenElse(is_kept, x, sinh_x);
  imaginary = hn::IfThenElse(hn::Eq(y, zero), y, sinh_y);
}

template <Float64Lanes D, class V>
HWY_INLINE void Cosh(D d, V x, V y, V& real, V& imaginary) {
  V sine;
  V cosine;
  V again;
  HyperbolicInFactors(d, x, sine, cosine, again);
  const V zero = hn::Zero(d);
  const V cosh_x = hn::Mul(hn::Mul(cosine, Cos(d, y)), again);
  const V cosh_y = hn::Mul(hn::Mul(sine, Sin(d, y)), again);
  const auto is_unbounded = hn::And(IsInfinite(d, x), hn::Not(IsFinite(d, y)));
  const auto is_zero = hn::Or(hn::Eq(x, zero), hn::Eq(y, zero));
  const V signed_zero = hn::Xor(hn::And(x, hn::SignBit(d)), hn::And(y, hn::SignBit(d)));
  real = hn::IfThenElse(is_unbounded, Infinity(d), cosh_x);
  imaginary = hn::IfThenElse(is_zero, signed_zero, cosh_y);
}

// sin z = -i sinh(iz).
template <Float64Lanes D, class V>
HWY_INLINE void Sin(D d, V x, V y, V& real, V& imaginary) {
  V turned_x;
  V turned_y;
  Sinh(d, hn::Neg(y), x, turned_x, turned_y);
  real = turned_y;
  imaginary = hn::Neg(turned_x);
}

template <Float64Lanes D, class V>
HWY_INLINE void Cos(D d, V x, V y, V& real, V& imaginary) {
  Cosh(d, hn::Neg(y), x, real, imaginary);
}

// Kahan's formula in t = tan y and s = sinh x, where nothing cancels. From |x| = 22 on, tanh x is 1.
template <Float64Lanes D, class V>
HWY_INLINE void Tanh(D d, V x, V y, V& real, V& imaginary) {
  const V one = hn::Set(d, 1.0);
  const V a = hn::Abs(x);
  const auto is_large = hn::Gt(a, hn::Set(d, 22.0));
  const V t = Tan(d, y);
  const V beta = Fma(d, t, t, one);
  const V s = FromSleef<SleefFunction::kSinh>(hn::IfThenElse(is_large, one, x));
  const V rho = hn::Sqrt(Fma(d, s, s, one));
  const V divisor = Fma(d, hn::Mul(beta, s), s, one);
  const V near_x = hn::Div(hn::Mul(hn::Mul(beta, rho), s), divisor);
  const V near_y = hn::Div(t, divisor);
  // 4 sin y cos y e^-2|x|, sin y cos y = t / (1 + t^2).
  const V power = FromSleef<SleefFunction::kExp>(hn::Neg(a));
  V far = hn::Mul(hn::Mul(hn::Mul(hn::Set(d, 4.0), hn::Div(t, beta)), power), power);
  far = hn::IfThenElseZero(hn::Not(IsInfinite(d, x)), far);
  const auto has_limit = hn::Or(IsFinite(d, y), IsInfinite(d, x));
  const V limit = hn::IfThenElse(has_limit, hn::CopySign(one, x), NotANumber(d));
  const auto is_kept = hn::And(hn::Eq(x, hn::Zero(d)), hn::Not(IsFinite(d, y)));
  real = hn::IfThenElse(is_kept, x, hn::IfThenElse(is_large, limit, near_x));
  imaginary = hn::IfThenElse(hn::Eq(y, hn::Zero(d)), y, hn::IfThenElse(is_large, far, near_y));
}

template <Float64Lanes D, class V>
HWY_INLINE void Tan(D d, V x, V y, V& real, V& imaginary) {
  V turned_x;
  V turned_y;
  Tanh(d, hn::Neg(y), x, turned_x, turned_y);
  real = turned_y;
  imaginary = hn::Neg(turned_x);
}

// Asinh and Acosh use Kahan's formulas: square roots of two factors, whose products are sums of terms of one
// sign.
template <Float64Lanes D, class V>
HWY_INLINE void Asinh(D d, V x, V y, V& real, V& imaginary) {
  const V one = hn::Set(d, 1.0);
  V a_x;
  V a_y;
  V b_x;
  V b_y;
  Sqrt(d, hn::Add(one, y), hn::Neg(x), a_x, a_y);
  Sqrt(d, hn::Sub(one, y), x, b_x, b_y);
  const V height = hn::Sub(hn::Mul(a_x, b_y), hn::Mul(a_y, b_x));
  const V width = hn::Sub(hn::Mul(a_x, b_x), hn::Mul(a_y, b_y));
  const auto is_infinite = hn::Or(IsInfinite(d, x), IsInfinite(d, y));
  // A real z gives a real result.
  const auto is_real = hn::Eq(y, hn::Zero(d));
  const V of_height = Asinh(d, hn::IfThenElse(is_real, x, height));
  const V angle = Atan2(d, y, hn::IfThenElse(is_infinite, hn::Abs(x), width));
  real = hn::IfThenElse(is_infinite, hn::CopySign(Infinity(d), x), of_height);
  imaginary = hn::IfThenElse(is_real, y, angle);
}

template <Float64Lanes D, class V>
HWY_INLINE void Acosh(D d, V x, V y, V& real, V& imaginary) {
  const V one = hn::Set(d, 1.0);
  V a_x;
  V a_y;
  V b_x;
  V b_y;
  Sqrt(d, hn::Sub(x, one), y, a_x, a_y);
  Sqrt(d, hn::Add(x, one), y, b_x, b_y);
  const V width = hn::Add(hn::Mul(a_x, b_x), hn::Mul(a_y, b_y));
  const auto is_infinite = hn::Or(IsInfinite(d, x), IsInfinite(d, y));
  const V angle = Atan2(d, hn::IfThenElse(is_infinite, y, a_y), hn::IfThenElse(is_infinite, x, b_x));
  real = hn::IfThenElse(is_infinite, Infinity(d), Asinh(d, width));
  imaginary = hn::IfThenElse(is_infinite, angle, hn::Add(angle, angle));
}

// The real part is log1p(4x / |1 - z|^2) / 4. Far from 0 the result is 1/z plus a quarter turn.
template <Float64Lanes D, class V>
HWY_INLINE void Atanh(D d, V x, V y, V& real, V& imaginary) {
  const V one = hn::Set(d, 1.0);
  const V length = hn::Abs(x);
  const V most = hn::IfThenElse(hn::Gt(hn::Abs(y), length), hn::Abs(y), length);
  const auto is_far = hn::Or(hn::Gt(most, hn::Set(d, 0x1p100)), IsInfinite(d, y));
  V inverse_x;
  V inverse_y;
  Reciprocal(d, x, y, inverse_x, inverse_y);
  const V distance = hn::Sub(one, length);
  const V square = Fma(d, distance, distance, hn::Mul(y, y));
  // Uses log(2 / |1 - z|) / 2, which is the same, where the square underflows.
  const auto is_close = hn::Lt(square, hn::Set(d, 0x1p-900));
  const V modulus = Modulus(d, distance, y);
  const V ratio = hn::IfThenElse(is_close, hn::Div(hn::Set(d, 2.0), modulus),
                                 hn::Div(hn::Mul(hn::Set(d, 4.0), length), square));
  const V share = hn::IfThenElse(is_close, hn::Set(d, 0.5), hn::Set(d, 0.25));
  const V log = hn::CopySign(hn::Mul(share, Log1p(d, ratio)), x);
  const V near = hn::IfThenElse(hn::Eq(length, hn::Zero(d)), x, log);
  const V width = hn::Sub(hn::Mul(distance, hn::Add(one, length)), hn::Mul(y, y));
  const V angle = hn::Mul(hn::Set(d, 0.5), Atan2(d, hn::Add(y, y), width));
  const V right = hn::CopySign(hn::Set(d, 0x1.921fb54442d18p+0), y);
  real = hn::IfThenElse(is_far, inverse_x, near);
  imaginary = hn::IfThenElse(is_far, OrNan(right, y), angle);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
