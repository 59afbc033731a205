// Reduction of angles of any size modulo pi / 2, for float32 arguments in float64 lanes.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_REDUCTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_REDUCTION_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_REDUCTION_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_REDUCTION_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/functions/two_over_pi.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// x = n pi/2 + r with |r| barely above pi/4. The first step is exact, since x is at most 2^27 and has at most
// 24 bits.
template <class D, class V>
HWY_INLINE V ReduceSmallAngle(D d, V x, V& n) {
  const V shift = RoundingShift(d);
  n = hn::Sub(Fma(d, x, hn::Set(d, 0x1.45f306dc9c883p-1), shift), shift);
  const V high = FmaNegated(d, n, hn::Set(d, 0x1.921fb54442d18p+0), x);
  return FmaNegated(d, n, hn::Set(d, 0x1.1a62633145c07p-54), high);
}

// Reduces m * 2^(row - 14), m an integer of 24 bits, by the method of Payne and Hanek. The table holds 2^row
// 2/pi modulo 4; n is right modulo 4 only. The first two products and their sum are exact. The third product
// contributes an error below 2^-26.
template <class D, class V>
HWY_INLINE V ReduceLargeAngle(D d, V m, V row, V& n) {
  const hn::RebindToSigned<D> di;
  const auto index = hn::And(hn::BitCast(di, hn::Add(row, RoundingShift(d))), hn::Set(di, 0xFF));
  const V first = hn::Mul(m, hn::GatherIndex(d, kTwoOverPi[0], index));
  const V whole = NearestEven(d, first);
  const V second = Fma(d, m, hn::GatherIndex(d, kTwoOverPi[1], index), hn::Sub(first, whole));
  const V more = NearestEven(d, second);
  const V turns = Fma(d, m, hn::GatherIndex(d, kTwoOverPi[2], index), hn::Sub(second, more));
  const V sum = hn::Add(whole, more);
  n = FmaNegated(d, hn::Set(d, 4.0), Floor(d, hn::Mul(sum, hn::Set(d, 0.25))), sum);
  return hn::Mul(turns, hn::Set(d, 0x1.921fb54442d18p+0));
}

// Returns the m of ReduceLargeAngle for finite float32 numbers from 2^9 on, and any harmless number for
// others.
template <class D, class V>
HWY_INLINE V IntegerOfMantissa(D d, V x) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::Or(hn::And(hn::BitCast(di, x), hn::Set(di, 0x007FFFFF)), hn::Set(di, 150 << 23)));
}

template <class D, class V>
HWY_INLINE V RowOfExponent(D d, V magnitude) {
  const hn::RebindToSigned<D> di;
  const auto row =
      hn::Sub(hn::ShiftRight<23>(hn::BitCast(di, magnitude)), hn::Set(di, kTwoOverPiFirstExponent));
  return hn::ConvertTo(
      d, hn::Min(hn::Max(row, hn::Zero(di)), hn::Set(di, static_cast<int32_t>(kTwoOverPiRows) - 1)));
}

// sin and cos for |r| up to pi/4 and a little more: 2^-47.
template <class D, class V>
HWY_INLINE V SinOfReduced(D d, V r) {
  const V r2 = hn::Mul(r, r);
  const V s = Polynomial(d, r2, -0x1.a96524a9654d9p-26, 0x1.71d77844db828p-19, -0x1.a019f951e6bf4p-13,
                         0x1.1111110c9c519p-7, -0x1.55555555523a4p-3);
  return Fma(d, hn::Mul(r, r2), s, r);
}

template <class D, class V>
HWY_INLINE V CosOfReduced(D d, V r) {
  const V r2 = hn::Mul(r, r);
  const V c = Polynomial(d, r2, 0x1.1bc68b5eae5d6p-29, -0x1.27e026c8c23b5p-22, 0x1.a019faa23ba4fp-16,
                         -0x1.6c16c167645c6p-10, 0x1.55555555530ccp-5);
  return Fma(d, hn::Mul(r2, r2), c, FmaNegated(d, hn::Set(d, 0.5), r2, hn::Set(d, 1.0)));
}

// sin(pi f) for |f| <= 1/2: 2^-52.
template <class D, class V>
HWY_INLINE V SinOfTurns(D d, V f) {
  const V s =
      Polynomial(d, hn::Mul(f, f), 0x1.9d1b8b4c3800bp-21, -0x1.6f797732e3068p-16, 0x1.e8f35e9e59278p-12,
                 -0x1.e3074ddd20dd8p-8, 0x1.5078348519133p-4, -0x1.32d2cce627543p-1, 0x1.466bc6775aa6ep+1,
                 -0x1.4abbce625be52p+2, 0x1.921fb54442d18p+1);
  return hn::Mul(f, s);
}

// Computes cos(pi f) = sin(pi (1/2 - |f|)), for |f| <= 1/2.
template <class D, class V>
HWY_INLINE V CosOfTurns(D d, V f) {
  return SinOfTurns(d, hn::Sub(hn::Set(d, 0.5), hn::Abs(f)));
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
