// The steps that functions are made of: fused multiply-add, rounding to integers, polynomials, signs, and
// float64 lanes for float32 ones. They give the same bits on every instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_PRIMITIVES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_PRIMITIVES_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_PRIMITIVES_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_PRIMITIVES_INL_H_
#endif

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>

#include <hwy/highway.h>
#include "engine/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

namespace hn = hwy::HWY_NAMESPACE;

template <class D>
concept Float32Lanes = std::same_as < hn::TFromD<D>,
float > ;
template <class D>
concept Float64Lanes = std::same_as < hn::TFromD<D>,
double > ;

template <class D>
using Number = hn::TFromD<D>;

// Portable targets, whose vectors are one lane with gcc and an array with clang, compute lane by lane. There
// Highway's MulAdd rounds twice, its roundings to integers lose the sign of zero or NaN, and its narrowing
// saturates at the largest number.
#undef PORTACL_LANE_BY_LANE
#define PORTACL_LANE_BY_LANE (HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128)
#if HWY_TARGET == HWY_SCALAR
template <class DTo, class F, class V, class... More>
HWY_INLINE auto LaneByLane(DTo to, const F& f, V first, More... more) {
  return hn::Set(to, f(first.raw, more.raw...));
}
#elif HWY_TARGET == HWY_EMU128
template <class DTo, class F, class V, class... More>
HWY_INLINE auto LaneByLane(DTo to, const F& f, V first, More... more) {
  hn::Vec<DTo> result;
  for (size_t i = 0; i < hn::MaxLanes(to); ++i) result.raw[i] = f(first.raw[i], more.raw[i]...);
  return result;
}
#endif

// Steps of functions that take vectors or Unrolled ones: each applies f to every vector.
template <class V>
inline constexpr bool kIsUnrolled = false;
#if !HWY_HAVE_SCALABLE
template <class V>
inline constexpr bool kIsUnrolled<Unrolled<V>> = true;
#endif
template <class D, class F, class First, class... More>
HWY_INLINE auto EachVector([[maybe_unused]] D d, const F& f, const First& first, const More&... more) {
#if !HWY_HAVE_SCALABLE
  if constexpr (kIsUnrolled<First> || (kIsUnrolled<More> || ...)) {
    return Unrolled<hn::Vec<D>>::Each(f, Unrolled<hn::Vec<D>>(first), Unrolled<hn::Vec<D>>(more)...);
  } else
#endif
  {
    return f(first, more...);
  }
}

// a * b + c, rounded once.
template <class D, class V>
requires(!kIsUnrolled<V>) HWY_INLINE V Fma([[maybe_unused]] D d, V a, V b, V c) {
#if PORTACL_LANE_BY_LANE
  return LaneByLane(
      d, [](auto x, auto y, auto z) { return std::fma(x, y, z); }, a, b, c);
#else
  return hn::MulAdd(a, b, c);
#endif
}

// c - a * b, rounded once.
template <class D, class V>
requires(!kIsUnrolled<V>) HWY_INLINE V FmaNegated([[maybe_unused]] D d, V a, V b, V c) {
#if PORTACL_LANE_BY_LANE
  return LaneByLane(
      d, [](auto x, auto y, auto z) { return std::fma(-x, y, z); }, a, b, c);
#else
  return hn::NegMulAdd(a, b, c);
#endif
}

template <class D, class A, class B, class C>
requires(kIsUnrolled<A> || kIsUnrolled<B> || kIsUnrolled<C>) HWY_INLINE
    auto Fma(D d, const A& a, const B& b, const C& c) {
  using V = hn::Vec<D>;
  return EachVector(
      d, [d](V x, V y, V z) HWY_ATTR { return Fma(d, x, y, z); }, a, b, c);
}
template <class D, class A, class B, class C>
requires(kIsUnrolled<A> || kIsUnrolled<B> || kIsUnrolled<C>) HWY_INLINE
    auto FmaNegated(D d, const A& a, const B& b, const C& c) {
  using V = hn::Vec<D>;
  return EachVector(
      d, [d](V x, V y, V z) HWY_ATTR { return FmaNegated(d, x, y, z); }, a, b, c);
}

// Evaluates a polynomial. The coefficient of the highest power comes first.
template <class D, class V, class... Lower>
HWY_INLINE V Polynomial(D d, const V& x, double highest, Lower... lower) {
  V sum = hn::Set(d, static_cast<Number<D>>(highest));
  ((sum = Fma(d, sum, x, hn::Set(d, static_cast<Number<D>>(lower)))), ...);
  return sum;
}

template <class D, class V>
HWY_INLINE V Floor([[maybe_unused]] D d, V x) {
#if PORTACL_LANE_BY_LANE
  return LaneByLane(
      d, [](auto value) { return std::floor(value); }, x);
#else
  return hn::Floor(x);
#endif
}

template <class D, class V>
HWY_INLINE V Ceil([[maybe_unused]] D d, V x) {
#if PORTACL_LANE_BY_LANE
  return LaneByLane(
      d, [](auto value) { return std::ceil(value); }, x);
#else
  return hn::Ceil(x);
#endif
}

template <class D, class V>
HWY_INLINE V Trunc([[maybe_unused]] D d, V x) {
#if PORTACL_LANE_BY_LANE
  return LaneByLane(
      d, [](auto value) { return std::trunc(value); }, x);
#else
  return hn::Trunc(x);
#endif
}

// Rounds to the nearest integer, and halfway cases to the even one.
template <class D, class V>
HWY_INLINE V NearestEven([[maybe_unused]] D d, V x) {
#if PORTACL_LANE_BY_LANE
  return LaneByLane(
      d, [](auto value) { return std::nearbyint(value); }, x);
#else
  return hn::Round(x);
#endif
}

// Returns the mask of odd integers.
template <class D, class V>
HWY_INLINE auto IsOdd(D d, V n) {
  const V half = hn::Mul(n, hn::Set(d, static_cast<Number<D>>(0.5)));
  return hn::Not(hn::Eq(Trunc(d, half), half));
}

// 1.5 * 2^23 for float32, 1.5 * 2^52 for float64. Adding it rounds a number of up to a quarter of it to an
// integer and leaves that integer in the low bits.
template <class D>
HWY_INLINE auto RoundingShift(D d) {
  return hn::Set(d, static_cast<Number<D>>(sizeof(Number<D>) == 4 ? 0x1.8p23 : 0x1.8p52));
}

template <class D>
HWY_INLINE auto Infinity(D d) {
  return hn::Set(d, std::numeric_limits<Number<D>>::infinity());
}

template <class D>
HWY_INLINE auto NotANumber(D d) {
  return hn::Set(d, std::numeric_limits<Number<D>>::quiet_NaN());
}

// Returns x where it is NaN, else the result. (Highway's Ne calls NaN equal to itself on some targets; Eq is
// ordered on all.)
template <class V>
HWY_INLINE V OrNan(V result, V x) {
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

// Gives a result without a sign the sign of x.
template <class D, class V>
HWY_INLINE V WithSignOf(D d, V magnitude, V x) {
  return hn::Or(magnitude, hn::And(x, hn::SignBit(d)));
}

// Narrows with one rounding, to infinity where it must be.
template <class DF, class VD>
HWY_INLINE auto Narrowed(DF narrow, VD x) {
#if PORTACL_LANE_BY_LANE
  return LaneByLane(
      narrow, [](double value) { return static_cast<float>(value); }, x);
#else
  return hn::DemoteTo(narrow, x);
#endif
}

// Applies f to float32 arguments in float64 lanes and rounds the result once. Lanes keep their order, so that
// a lane's result does not depend on others.
template <class D, class V, class F>
HWY_INLINE V InDoubles(D d, V x, const F& f) {
#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<double, D> wide;
  return Narrowed(d, f(wide, hn::PromoteTo(wide, x)));
#else
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto low = f(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x)));
  const auto high = f(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x)));
  return hn::Combine(d, Narrowed(half, high), Narrowed(half, low));
#endif
}

template <class D, class V, class F>
HWY_INLINE V InDoubles(D d, V x, V y, const F& f) {
#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<double, D> wide;
  return Narrowed(d, f(wide, hn::PromoteTo(wide, x), hn::PromoteTo(wide, y)));
#else
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto low =
      f(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x)), hn::PromoteTo(wide, hn::LowerHalf(half, y)));
  const auto high =
      f(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x)), hn::PromoteTo(wide, hn::UpperHalf(half, y)));
  return hn::Combine(d, Narrowed(half, high), Narrowed(half, low));
#endif
}

template <class D, class V, class F>
HWY_INLINE V InDoubles(D d, V x, V y, V z, const F& f) {
#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<double, D> wide;
  return Narrowed(d, f(wide, hn::PromoteTo(wide, x), hn::PromoteTo(wide, y), hn::PromoteTo(wide, z)));
#else
  const hn::Half<D> half;
  const hn::Rebind<double, decltype(half)> wide;
  const auto low =
      f(wide, hn::PromoteTo(wide, hn::LowerHalf(half, x)), hn::PromoteTo(wide, hn::LowerHalf(half, y)),
        hn::PromoteTo(wide, hn::LowerHalf(half, z)));
  const auto high =
      f(wide, hn::PromoteTo(wide, hn::UpperHalf(half, x)), hn::PromoteTo(wide, hn::UpperHalf(half, y)),
        hn::PromoteTo(wide, hn::UpperHalf(half, z)));
  return hn::Combine(d, Narrowed(half, high), Narrowed(half, low));
#endif
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
