// exp in float32 over Highway vectors: at most 1 ulp, and the same bits on every instruction set (decision
// N7).
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_EXP_INL_H_
#undef PORTACL_ENGINE_EXP_INL_H_
#else
#define PORTACL_ENGINE_EXP_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// x = n ln2 + r with |r| <= ln2 / 2, then exp(x) = 2^n exp(r). No operation is fused anywhere, so that an
// instruction set with fused multiply-add has the same bits as one without. exp(r) = 1 + r + r^2 q(r); q is a
// minimax polynomial of degree 4 for the relative error of exp(r), 2^-28.2. The part of r that its rounding
// loses is carried along.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET != HWY_AVX3
  const hn::RebindToSigned<D> di;
#endif

  // Beyond these bounds the result is that of the bound: 0, and infinity. (x86's instructions give the second
  // operand where one is NaN, so NaN passes.)
  const V clamped = hn::Min(hn::Set(d, 89.0f), hn::Max(hn::Set(d, -104.0f), x));

  // Adding 1.5 * 2^23 rounds to an integer, which then stands in the low bits.
  const V magic = hn::Set(d, 0x1.8p23f);
  const V shifted = hn::Add(hn::Mul(clamped, hn::Set(d, 0x1.715476p0f)), magic);
  const V n = hn::Sub(shifted, magic);

  // ln2 in two parts; n times the first, of 9 bits, is exact, and so is the difference.
  const V high = hn::Sub(clamped, hn::Mul(n, hn::Set(d, 0x1.63p-1f)));
  const V small = hn::Mul(n, hn::Set(d, -0x1.bd0106p-13f));
  const V r = hn::Sub(high, small);
  const V lost = hn::Sub(hn::Sub(high, r), small);

  V q = hn::Set(d, 0x1.6a23a8p-10f);
  q = hn::Add(hn::Mul(q, r), hn::Set(d, 0x1.123a36p-7f));
  q = hn::Add(hn::Mul(q, r), hn::Set(d, 0x1.5558f4p-5f));
  q = hn::Add(hn::Mul(q, r), hn::Set(d, 0x1.55549p-3f));
  q = hn::Add(hn::Mul(q, r), hn::Set(d, 0x1.fffffcp-2f));
  const V tail = hn::Add(hn::Mul(hn::Mul(r, r), q), lost);
  const V reduced = hn::Add(hn::Set(d, 1.0f), hn::Add(r, tail));

#if HWY_TARGET == HWY_AVX3
  // One instruction for what the two products below do.
  const V result{_mm512_scalef_ps(reduced.raw, n.raw)};
#else
  // 2^n in two factors: the first product is exact, the second rounds once where the result is subnormal, and
  // overflows where it must.
  const auto whole = hn::Sub(hn::BitCast(di, shifted), hn::BitCast(di, magic));
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const V scale1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V scale2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  const V result = hn::Mul(hn::Mul(reduced, scale1), scale2);
#endif

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return result;
#else
  // NaN stays NaN. (Highway's Ne calls NaN equal to itself on some targets; Eq is ordered on all.)
  return hn::IfThenElse(hn::Eq(x, x), result, x);
#endif
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
