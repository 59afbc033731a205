// Functions of complex numbers, as float64 vectors of real and imaginary parts. Each part is within a few ulp
// where nothing cancels. Branch cuts, zeros and infinities are those of C.
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

// A complex number in each lane.
template <class V>
struct Pair {
  V real;
  V imaginary;
};

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
HWY_INLINE Pair<V> Scaled(D d, Pair<V> z, V& back) {
  const V x = hn::Abs(z.real);
  const V y = hn::Abs(z.imaginary);
  const V most = hn::IfThenElse(hn::Gt(y, x), y, x);
  const auto is_large = hn::Gt(most, hn::Set(d, 0x1p500));
  const auto is_small = hn::Lt(most, hn::Set(d, 0x1p-400));
  const V small = hn::Set(d, 0x1p-600);
  const V large = hn::Set(d, 0x1p600);
  const V one = hn::Set(d, 1.0);
  const V scale = hn::IfThenElse(is_large, small, hn::IfThenElse(is_small, large, one));
  back = hn::IfThenElse(is_large, large, hn::IfThenElse(is_small, small, one));
  return {hn::Mul(z.real, scale), hn::Mul(z.imaginary, scale)};
}

// Returns |z|; z has passed through Scaled.
template <Float64Lanes D, class V>
HWY_INLINE V ModulusOfScaled(D d, Pair<V> z) {
  const V x = hn::Abs(z.real);
  const V y = hn::Abs(z.imaginary);
  const auto is_steep = hn::Gt(y, x);
  const V more = hn::IfThenElse(is_steep, y, x);
  const V less = hn::IfThenElse(is_steep, x, y);
  return hn::Sqrt(Fma(d, more, more, hn::Mul(less, less)));
}

template <Float64Lanes D, class V>
HWY_INLINE V Modulus(D d, Pair<V> z) {
  V back;
  const Pair<V> scaled = Scaled(d, z, back);
  const V modulus = hn::Mul(ModulusOfScaled(d, scaled), back);
  const auto is_infinite = hn::Or(IsInfinite(d, z.real), IsInfinite(d, z.imaginary));
  return hn::IfThenElse(is_infinite, Infinity(d), OrNan(OrNan(modulus, z.real), z.imaginary));
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Abs(D d, Pair<V> z) {
  return {Modulus(d, z), hn::Zero(d)};
}

// Returns z / |z|, and 0 for z = 0.
template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Sign(D d, Pair<V> z) {
  V back;
  const Pair<V> scaled = Scaled(d, z, back);
  const V modulus = ModulusOfScaled(d, scaled);
  const V divisor = hn::IfThenElse(hn::Eq(modulus, hn::Zero(d)), hn::Set(d, 1.0), modulus);
  return {hn::Div(scaled.real, divisor), hn::Div(scaled.imaginary, divisor)};
}

// Returns 1 / z: NaN for 0, 0 for infinity.
template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Reciprocal(D d, Pair<V> z) {
  V back;
  const Pair<V> scaled = Scaled(d, z, back);
  const V square = Fma(d, scaled.real, scaled.real, hn::Mul(scaled.imaginary, scaled.imaginary));
  const auto is_infinite = hn::Or(IsInfinite(d, z.real), IsInfinite(d, z.imaginary));
  // 1 / z = s / (s z), and s = 1 / back.
  const V inverse_back = hn::Div(hn::Set(d, 1.0), back);
  const V real = hn::Mul(hn::Div(scaled.real, square), inverse_back);
  const V imaginary = hn::Neg(hn::Mul(hn::Div(scaled.imaginary, square), inverse_back));
  const V zero = hn::Zero(d);
  return {hn::IfThenElse(is_infinite, WithSignOf(d, zero, z.real), real),
          hn::IfThenElse(is_infinite, WithSignOf(d, zero, hn::Neg(z.imaginary)), imaginary)};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Sqrt(D d, Pair<V> z) {
  // Scales by a power of 4, so that the sum does not overflow and the modulus is no rounded subnormal.
  const V x = hn::Abs(z.real);
  const V y = hn::Abs(z.imaginary);
  const V most = hn::IfThenElse(hn::Gt(y, x), y, x);
  const auto is_large = hn::Gt(most, hn::Set(d, 0x1p1000));
  const auto is_small = hn::Lt(most, hn::Set(d, 0x1p-900));
  const V one = hn::Set(d, 1.0);
  const V half = hn::Set(d, 0.5);
  const V scale =
      hn::IfThenElse(is_large, hn::Set(d, 0x1p-4), hn::IfThenElse(is_small, hn::Set(d, 0x1p108), one));
  const V back =
      hn::IfThenElse(is_large, hn::Set(d, 0x1p2), hn::IfThenElse(is_small, hn::Set(d, 0x1p-54), one));
  const Pair<V> scaled{hn::Mul(z.real, scale), hn::Mul(z.imaginary, scale)};
  const V sum = hn::Add(hn::Abs(scaled.real), Modulus(d, scaled));
  const V root = hn::Sqrt(hn::Mul(half, sum));
  const V other = hn::Div(hn::Mul(half, hn::Abs(scaled.imaginary)), root);
  const auto is_left = hn::Lt(z.real, hn::Zero(d));
  const V real = hn::Mul(hn::IfThenElse(is_left, other, root), back);
  const V imaginary = hn::Mul(hn::IfThenElse(is_left, root, other), back);
  const auto is_zero = hn::And(hn::Eq(x, hn::Zero(d)), hn::Eq(y, hn::Zero(d)));
  const auto is_tall = IsInfinite(d, z.imaginary);
  return {hn::IfThenElse(is_tall, Infinity(d), hn::IfThenElseZero(hn::Not(is_zero), real)),
          hn::IfThenElse(hn::Or(is_zero, is_tall), z.imaginary, hn::CopySign(imaginary, z.imaginary))};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Rsqrt(D d, Pair<V> z) {
  return Reciprocal(d, Sqrt(d, z));
}

// e^x (cos y, sin y). Multiplies by e^x in two factors where e^x alone would overflow.
template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Exp(D d, Pair<V> z) {
  const V x = z.real;
  const V y = z.imaginary;
  const V one = hn::Set(d, 1.0);
  const auto is_large = hn::Gt(x, hn::Set(d, 700.0));
  const V factor = FromSleef<SleefFunction::kExp>(hn::IfThenElse(is_large, hn::Mul(x, hn::Set(d, 0.5)), x));
  const V again = hn::IfThenElse(is_large, factor, one);
  V real = hn::Mul(hn::Mul(factor, Cos(d, y)), again);
  V imaginary = hn::Mul(hn::Mul(factor, Sin(d, y)), again);
  const auto is_unbounded = hn::Not(IsFinite(d, y));
  const auto is_vanishing = hn::And(is_unbounded, hn::Eq(x, hn::Neg(Infinity(d))));
  real = hn::IfThenElse(hn::And(is_unbounded, hn::Eq(x, Infinity(d))), x, real);
  real = hn::IfThenElseZero(hn::Not(is_vanishing), real);
  imaginary = hn::IfThenElseZero(hn::Not(is_vanishing), imaginary);
  return {real, hn::IfThenElse(hn::Eq(y, hn::Zero(d)), y, imaginary)};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Sigmoid(D d, Pair<V> z) {
  const Pair<V> power = Exp(d, Pair<V>{hn::Neg(z.real), hn::Neg(z.imaginary)});
  return Reciprocal(d, Pair<V>{hn::Add(hn::Set(d, 1.0), power.real), power.imaginary});
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
HWY_INLINE Pair<V> Log(D d, Pair<V> z) {
  const V x = hn::Abs(z.real);
  const V y = hn::Abs(z.imaginary);
  const auto is_steep = hn::Gt(y, x);
  const V more = hn::IfThenElse(is_steep, y, x);
  const V less = hn::IfThenElse(is_steep, x, y);
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
  const V real = hn::IfThenElse(is_near, rest, hn::Add(Log(d, more), rest));
  const auto is_infinite = hn::Or(IsInfinite(d, x), IsInfinite(d, y));
  return {hn::IfThenElse(is_infinite, Infinity(d), OrNan(OrNan(real, x), y)), Atan2(d, z.imaginary, z.real)};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Log2(D d, Pair<V> z) {
  const Pair<V> log = Log(d, z);
  const V factor = hn::Set(d, 0x1.71547652b82fep+0);
  return {hn::Mul(log.real, factor), hn::Mul(log.imaginary, factor)};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Log10(D d, Pair<V> z) {
  const Pair<V> log = Log(d, z);
  const V factor = hn::Set(d, 0x1.bcb7b1526e50ep-2);
  return {hn::Mul(log.real, factor), hn::Mul(log.imaginary, factor)};
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
HWY_INLINE Pair<V> Sinh(D d, Pair<V> z) {
  const V x = z.real;
  const V y = z.imaginary;
  V sine;
  V cosine;
  V again;
  HyperbolicInFactors(d, x, sine, cosine, again);
  const V zero = hn::Zero(d);
  const V real = hn::Mul(hn::Mul(sine, Cos(d, y)), again);
  const V imaginary = hn::Mul(hn::Mul(cosine, Sin(d, y)), again);
  // Defines 0 times infinity or NaN as 0, and infinity times NaN as infinity.
  const auto is_kept = hn::Or(hn::And(hn::Eq(x, zero), hn::Not(IsFinite(d, y))),
                              hn::And(IsInfinite(d, x), hn::Not(IsFinite(d, y))));
  return {hn::IfThenElse(is_kept, x, real), hn::IfThenElse(hn::Eq(y, zero), y, imaginary)};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Cosh(D d, Pair<V> z) {
  const V x = z.real;
  const V y = z.imaginary;
  V sine;
  V cosine;
  V again;
  HyperbolicInFactors(d, x, sine, cosine, again);
  const V zero = hn::Zero(d);
  const V real = hn::Mul(hn::Mul(cosine, Cos(d, y)), again);
  const V imaginary = hn::Mul(hn::Mul(sine, Sin(d, y)), again);
  const auto is_unbounded = hn::And(IsInfinite(d, x), hn::Not(IsFinite(d, y)));
  const auto is_zero = hn::Or(hn::Eq(x, zero), hn::Eq(y, zero));
  const V signed_zero = hn::Xor(hn::And(x, hn::SignBit(d)), hn::And(y, hn::SignBit(d)));
  return {hn::IfThenElse(is_unbounded, Infinity(d), real), hn::IfThenElse(is_zero, signed_zero, imaginary)};
}

// sin z = -i sinh(iz).
template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Sin(D d, Pair<V> z) {
  const Pair<V> turned = Sinh(d, Pair<V>{hn::Neg(z.imaginary), z.real});
  return {turned.imaginary, hn::Neg(turned.real)};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Cos(D d, Pair<V> z) {
  return Cosh(d, Pair<V>{hn::Neg(z.imaginary), z.real});
}

// Kahan's formula in t = tan y and s = sinh x, where nothing cancels. From |x| = 22 on, tanh x is 1.
template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Tanh(D d, Pair<V> z) {
  const V x = z.real;
  const V y = z.imaginary;
  const V one = hn::Set(d, 1.0);
  const V a = hn::Abs(x);
  const auto is_large = hn::Gt(a, hn::Set(d, 22.0));
  const V t = Tan(d, y);
  const V beta = Fma(d, t, t, one);
  const V s = FromSleef<SleefFunction::kSinh>(hn::IfThenElse(is_large, one, x));
  const V rho = hn::Sqrt(Fma(d, s, s, one));
  const V divisor = Fma(d, hn::Mul(beta, s), s, one);
  const V real = hn::Div(hn::Mul(hn::Mul(beta, rho), s), divisor);
  const V imaginary = hn::Div(t, divisor);
  // 4 sin y cos y e^-2|x|, sin y cos y = t / (1 + t^2).
  const V power = FromSleef<SleefFunction::kExp>(hn::Neg(a));
  V far = hn::Mul(hn::Mul(hn::Mul(hn::Set(d, 4.0), hn::Div(t, beta)), power), power);
  far = hn::IfThenElseZero(hn::Not(IsInfinite(d, x)), far);
  const auto has_limit = hn::Or(IsFinite(d, y), IsInfinite(d, x));
  const V limit = hn::IfThenElse(has_limit, hn::CopySign(one, x), NotANumber(d));
  const auto is_kept = hn::And(hn::Eq(x, hn::Zero(d)), hn::Not(IsFinite(d, y)));
  return {hn::IfThenElse(is_kept, x, hn::IfThenElse(is_large, limit, real)),
          hn::IfThenElse(hn::Eq(y, hn::Zero(d)), y, hn::IfThenElse(is_large, far, imaginary))};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Tan(D d, Pair<V> z) {
  const Pair<V> turned = Tanh(d, Pair<V>{hn::Neg(z.imaginary), z.real});
  return {turned.imaginary, hn::Neg(turned.real)};
}

// Asinh and Acosh use Kahan's formulas: square roots of two factors, whose products are sums of terms of one
// sign.
template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Asinh(D d, Pair<V> z) {
  const V one = hn::Set(d, 1.0);
  const V x = z.real;
  const V y = z.imaginary;
  const Pair<V> a = Sqrt(d, Pair<V>{hn::Add(one, y), hn::Neg(x)});
  const Pair<V> b = Sqrt(d, Pair<V>{hn::Sub(one, y), x});
  const V height = hn::Sub(hn::Mul(a.real, b.imaginary), hn::Mul(a.imaginary, b.real));
  const V width = hn::Sub(hn::Mul(a.real, b.real), hn::Mul(a.imaginary, b.imaginary));
  const auto is_infinite = hn::Or(IsInfinite(d, x), IsInfinite(d, y));
  // A real z gives a real result.
  const auto is_real = hn::Eq(y, hn::Zero(d));
  const V real = Asinh(d, hn::IfThenElse(is_real, x, height));
  const V angle = Atan2(d, y, hn::IfThenElse(is_infinite, hn::Abs(x), width));
  return {hn::IfThenElse(is_infinite, hn::CopySign(Infinity(d), x), real), hn::IfThenElse(is_real, y, angle)};
}

template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Acosh(D d, Pair<V> z) {
  const V one = hn::Set(d, 1.0);
  const Pair<V> a = Sqrt(d, Pair<V>{hn::Sub(z.real, one), z.imaginary});
  const Pair<V> b = Sqrt(d, Pair<V>{hn::Add(z.real, one), z.imaginary});
  const V width = hn::Add(hn::Mul(a.real, b.real), hn::Mul(a.imaginary, b.imaginary));
  const auto is_infinite = hn::Or(IsInfinite(d, z.real), IsInfinite(d, z.imaginary));
  const V angle = Atan2(d, hn::IfThenElse(is_infinite, z.imaginary, a.imaginary),
                        hn::IfThenElse(is_infinite, z.real, b.real));
  return {hn::IfThenElse(is_infinite, Infinity(d), Asinh(d, width)),
          hn::IfThenElse(is_infinite, angle, hn::Add(angle, angle))};
}

// The real part is log1p(4x / |1 - z|^2) / 4. Far from 0 the result is 1/z plus a quarter turn.
template <Float64Lanes D, class V>
HWY_INLINE Pair<V> Atanh(D d, Pair<V> z) {
  const V one = hn::Set(d, 1.0);
  const V x = hn::Abs(z.real);
  const V y = z.imaginary;
  const V most = hn::IfThenElse(hn::Gt(hn::Abs(y), x), hn::Abs(y), x);
  const auto is_far = hn::Or(hn::Gt(most, hn::Set(d, 0x1p100)), IsInfinite(d, y));
  const Pair<V> inverse = Reciprocal(d, z);
  const V distance = hn::Sub(one, x);
  const V square = Fma(d, distance, distance, hn::Mul(y, y));
  // Uses log(2 / |1 - z|) / 2, which is the same, where the square underflows.
  const auto is_close = hn::Lt(square, hn::Set(d, 0x1p-900));
  const V modulus = Modulus(d, Pair<V>{distance, y});
  const V ratio = hn::IfThenElse(is_close, hn::Div(hn::Set(d, 2.0), modulus),
                                 hn::Div(hn::Mul(hn::Set(d, 4.0), x), square));
  const V share = hn::IfThenElse(is_close, hn::Set(d, 0.5), hn::Set(d, 0.25));
  V real = hn::CopySign(hn::Mul(share, Log1p(d, ratio)), z.real);
  real = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), z.real, real);
  const V width = hn::Sub(hn::Mul(distance, hn::Add(one, x)), hn::Mul(y, y));
  const V angle = hn::Mul(hn::Set(d, 0.5), Atan2(d, hn::Add(y, y), width));
  const V right = hn::CopySign(hn::Set(d, 0x1.921fb54442d18p+0), y);
  return {hn::IfThenElse(is_far, inverse.real, real), hn::IfThenElse(is_far, OrNan(right, y), angle)};
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
