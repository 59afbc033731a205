// Trigonometric functions and their inverses over float32 vectors: within 1 ulp, for angles of any size.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_TRIGONOMETRIC_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_TRIGONOMETRIC_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_TRIGONOMETRIC_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_TRIGONOMETRIC_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/functions/reduction-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// sin(|x| + offset pi/2), with the sign of x if the offset is even. Small angles are reduced in float32, with
// pi/2 in three parts and the rounding error of the reduced angle carried along. Large angles are rare and
// reduced in float64. Each lane's magnitude alone decides.
constexpr float kLargestQuickAngle = 0x1p15f;
template <int kOffset, class D, class V>
HWY_INLINE V Sinusoid(D d, V x) {
  const hn::RebindToSigned<D> di;
  const V a = hn::Abs(x);
  const V shift = RoundingShift(d);
  const V shifted = Fma(d, a, hn::Set(d, 0x1.45f306p-1f), shift);
  const V n = hn::Sub(shifted, shift);
  const V second = hn::Set(d, -0x1.777a5cp-25f);
  // Exact, since the result has at most 24 bits.
  const V most = FmaNegated(d, n, hn::Set(d, 0x1.921fb6p+0f), a);
  // Computes a sum and its rounding error, whichever operand is larger.
  const V less = hn::Mul(n, second);
  const V r = hn::Sub(most, less);
  const V part = hn::Sub(most, r);
  const V rounding = hn::Sub(hn::Sub(most, hn::Add(r, part)), hn::Sub(less, part));
  const V lost = FmaNegated(d, n, hn::Set(d, -0x1.ee59dap-50f),
                            hn::Sub(rounding, FmaNegated(d, hn::Neg(n), second, hn::Neg(less))));

  const V r2 = hn::Mul(r, r);
  const V half = hn::Mul(r2, hn::Set(d, 0.5f));
  const V one = hn::Set(d, 1.0f);
  const V s = Polynomial(d, r2, 0x1.7b2d8p-19f, -0x1.a0565p-13f, 0x1.111172p-7f, -0x1.555556p-3f);
  const V sine = hn::Add(r, Fma(d, hn::Mul(r, r2), s, FmaNegated(d, lost, half, lost)));
  const V c = Polynomial(d, r2, -0x1.35cbbp-22f, 0x1.a07122p-16f, -0x1.6c175ep-10f, 0x1.555556p-5f);
  const V near = hn::Sub(one, half);
  const V rest = FmaNegated(d, r, lost, hn::Sub(hn::Sub(one, near), half));
  const V cosine = hn::Add(near, Fma(d, hn::Mul(r2, r2), c, rest));

  const auto quadrant = hn::Add(hn::BitCast(di, shifted), hn::Set(di, kOffset));
  const auto is_odd = hn::MaskFromVec(hn::BitCast(d, hn::Neg(hn::And(quadrant, hn::Set(di, 1)))));
  const V sign = hn::BitCast(d, hn::ShiftLeft<30>(hn::And(quadrant, hn::Set(di, 2))));
  V result = hn::Xor(hn::IfThenElse(is_odd, cosine, sine), sign);

  const auto is_quick = hn::Lt(a, hn::Set(d, kLargestQuickAngle));
  if (HWY_UNLIKELY(!hn::AllTrue(d, is_quick))) {
    const V large =
        InDoubles(d, IntegerOfMantissa(d, a), RowOfExponent(d, a), [](auto wide, auto m, auto row) HWY_ATTR {
          auto turns = m;
          const auto angle = ReduceLargeAngle(wide, m, row, turns);
          turns = hn::Add(turns, hn::Set(wide, static_cast<double>(kOffset)));
          const auto value =
              hn::IfThenElse(IsOdd(wide, turns), CosOfReduced(wide, angle), SinOfReduced(wide, angle));
          const auto is_lower = IsOdd(wide, Floor(wide, hn::Mul(turns, hn::Set(wide, 0.5))));
          return hn::IfThenElse(is_lower, hn::Neg(value), value);
        });
    result = hn::IfThenElse(is_quick, result, large);
    result = hn::IfThenElse(hn::Lt(a, Infinity(d)), result, NotANumber(d));
  }
  if constexpr (kOffset % 2 == 0) return hn::Xor(result, hn::And(x, hn::SignBit(d)));
  return result;
}

template <Float32Lanes D, class V>
HWY_INLINE V Sin(D d, V x) {
  return Sinusoid<0>(d, x);
}

template <Float32Lanes D, class V>
HWY_INLINE V Cos(D d, V x) {
  return Sinusoid<1>(d, x);
}

// tan(r + n pi/2).
template <class D, class V>
HWY_INLINE V TanOfReduced(D d, V r, V n) {
  const V s = SinOfReduced(d, r);
  const V c = CosOfReduced(d, r);
  const auto is_odd = IsOdd(d, n);
  return hn::Div(hn::IfThenElse(is_odd, hn::Neg(c), s), hn::IfThenElse(is_odd, s, c));
}

template <Float32Lanes D, class V>
HWY_INLINE V Tan(D d, V x) {
  const V a = hn::Abs(x);
  V result = InDoubles(d, a, [](auto wide, auto t) HWY_ATTR {
    auto n = t;
    const auto r = ReduceSmallAngle(wide, t, n);
    return TanOfReduced(wide, r, n);
  });
  const auto is_quick = hn::Lt(a, hn::Set(d, 0x1p26f));
  if (HWY_UNLIKELY(!hn::AllTrue(d, is_quick))) {
    const V large =
        InDoubles(d, IntegerOfMantissa(d, a), RowOfExponent(d, a), [](auto wide, auto m, auto row) HWY_ATTR {
          auto n = m;
          const auto r = ReduceLargeAngle(wide, m, row, n);
          return TanOfReduced(wide, r, n);
        });
    result = hn::IfThenElse(is_quick, result, large);
    result = hn::IfThenElse(hn::Lt(a, Infinity(d)), result, NotANumber(d));
  }
  return hn::Xor(result, hn::And(x, hn::SignBit(d)));
}

// sin(pi x) / (pi x); x = n + f with |f| <= 1/2 is exact.
template <Float32Lanes D, class V>
HWY_INLINE V Sinc(D d, V x) {
  const V result = InDoubles(d, hn::Abs(x), [](auto wide, auto a) HWY_ATTR {
    const auto n = NearestEven(wide, a);
    const auto sine = SinOfTurns(wide, hn::Sub(a, n));
    return hn::Div(hn::IfThenElse(IsOdd(wide, n), hn::Neg(sine), sine),
                   hn::Mul(a, hn::Set(wide, 0x1.921fb54442d18p+1)));
  });
  return OrNan(hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Set(d, 1.0f), result), x);
}

// Returns the angle of (x, y), y >= 0, in float64 lanes. atan(t) = t + t^3 p(t^2) for t from 0 to 1 (2^-39);
// other quotients use complements.
template <class D, class V>
HWY_INLINE V AngleInDouble(D d, V y, V x) {
  const hn::RebindToSigned<D> di;
  const V a = hn::Abs(x);
  const auto is_steep = hn::Gt(y, a);
  const V over = hn::IfThenElse(is_steep, a, y);
  const V under = hn::IfThenElse(is_steep, y, a);
  // Handles 0 / 0 and infinity / infinity.
  V t = hn::IfThenElse(hn::Eq(over, hn::Zero(d)), over, hn::Div(over, under));
  t = hn::IfThenElse(hn::Eq(over, Infinity(d)), hn::Set(d, 1.0), t);
  const V z = hn::Mul(t, t);
  const V p =
      Polynomial(d, z, -0x1.25a7a1fdca94cp-12, 0x1.271eda83e867ap-9, -0x1.1695f018c5bb2p-7,
                 0x1.4deda8b376428p-6, -0x1.24eed282fc5b7p-5, 0x1.a057e2da0afa9p-5, -0x1.05888f93a4bb2p-4,
                 0x1.3828340e7749ep-4, -0x1.73da442f9ae11p-4, 0x1.c70d7ec98601fp-4, -0x1.2491c6b668bbdp-3,
                 0x1.99999515ed41ep-3, -0x1.5555554e4cf03p-2);
  V angle = Fma(d, hn::Mul(t, z), p, t);
  angle = hn::IfThenElse(is_steep, hn::Sub(hn::Set(d, 0x1.921fb54442d18p+0), angle), angle);
  const auto is_left = hn::MaskFromVec(hn::BitCast(d, hn::BroadcastSignBit(hn::BitCast(di, x))));
  return hn::IfThenElse(is_left, hn::Sub(hn::Set(d, 0x1.921fb54442d18p+1), angle), angle);
}

template <Float32Lanes D, class V>
HWY_INLINE V Atan(D d, V x) {
  const V result = InDoubles(
      d, hn::Abs(x), [](auto wide, auto a) HWY_ATTR { return AngleInDouble(wide, a, hn::Set(wide, 1.0)); });
  return OrNan(WithSignOf(d, result, x), x);
}

// The angle of the point (x, y).
template <Float32Lanes D, class V>
HWY_INLINE V Atan2(D d, V y, V x) {
  const V result = InDoubles(d, hn::Abs(y), x,
                             [](auto wide, auto b, auto a) HWY_ATTR { return AngleInDouble(wide, b, a); });
  return OrNan(OrNan(WithSignOf(d, result, y), x), y);
}

// The common part of Asin and Acos for |x| = a. Up to 1/2, s = a and asin(s) = s + s t with t = z p(z), z =
// s^2 (2^-29.8). Beyond, asin(a) = pi/2 - 2 asin(s) with z = (1 - a) / 2, which is exact; `twice` is 2s
// there, and `lost` the rounding error of the root.
template <class D, class V>
HWY_INLINE auto PartsOfArc(D d, V a, V& t, V& twice, V& lost) {
  const V half = hn::Set(d, 0.5f);
  const auto is_beyond = hn::Lt(half, a);
  const V z = hn::IfThenElse(is_beyond, FmaNegated(d, half, a, half), hn::Mul(a, a));
  t = hn::Mul(z, Polynomial(d, z, 0x1.13fed3dd245c1p-5, 0x1.18f91e79712c6p-6, 0x1.fd8da2554dd34p-6,
                            0x1.6d5bb95f8e653p-5, 0x1.333430fcff28ep-4, 0x1.555554e435732p-3));
  const V root = hn::Sqrt(z);
  twice = hn::Add(root, root);
  // Avoids dividing by 0; the error of root 0 is 0.
  const V over = hn::Max(root, hn::Set(d, 0x1p-100f));
  lost = hn::IfThenElseZero(is_beyond, hn::Div(FmaNegated(d, root, root, z), over));
  return is_beyond;
}

// Returns base + w + w t + low. w is no greater than the base unless that is 0.
template <class D, class V>
HWY_INLINE V ArcFrom(D d, V base, V low, V w, V t) {
  const V most = hn::Add(base, w);
  const V rest = hn::Add(hn::Sub(base, most), w);
  return hn::Add(most, hn::Add(rest, Fma(d, w, t, low)));
}

// pi/2 in two parts.
constexpr float kQuarterTurn = 0x1.921fb6p+0f;
constexpr float kQuarterTurnRest = -0x1.777a5cp-25f;

template <Float32Lanes D, class V>
HWY_INLINE V Asin(D d, V x) {
  const V a = hn::Abs(x);
  V t;
  V twice;
  V lost;
  const auto is_beyond = PartsOfArc(d, a, t, twice, lost);
  const V base = hn::IfThenElseZero(is_beyond, hn::Set(d, kQuarterTurn));
  const V low = hn::IfThenElseZero(is_beyond, hn::Set(d, kQuarterTurnRest));
  const V w = hn::IfThenElse(is_beyond, hn::Neg(twice), a);
  const V result = ArcFrom(d, base, hn::Sub(low, lost), w, t);
  return hn::IfThenElse(hn::Le(a, hn::Set(d, 1.0f)), WithSignOf(d, result, x), NotANumber(d));
}

// pi/2 - asin(x). Above 1/2 it is 2 asin(s), below -1/2 it is pi - 2 asin(s).
template <Float32Lanes D, class V>
HWY_INLINE V Acos(D d, V x) {
  const V a = hn::Abs(x);
  V t;
  V twice;
  V lost;
  const auto is_beyond = PartsOfArc(d, a, t, twice, lost);
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  const V sign = hn::IfThenElse(is_beyond, hn::And(x, hn::SignBit(d)), hn::SignBit(d));
  const V w = hn::Xor(hn::IfThenElse(is_beyond, twice, x), sign);
  const V base = hn::IfThenElse(is_beyond, hn::IfThenElseZero(is_negative, hn::Set(d, 2 * kQuarterTurn)),
                                hn::Set(d, kQuarterTurn));
  const V low = hn::IfThenElse(is_beyond, hn::IfThenElseZero(is_negative, hn::Set(d, 2 * kQuarterTurnRest)),
                               hn::Set(d, kQuarterTurnRest));
  const V result = ArcFrom(d, base, hn::Add(low, hn::Xor(lost, sign)), w, t);
  return hn::IfThenElse(hn::Le(a, hn::Set(d, 1.0f)), result, NotANumber(d));
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
