// exp in float32 over Highway vectors: at most 1 ulp, and the same bits on every instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_EXP_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_EXP_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_EXP_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/unrolled-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// Returns reduced * 2^n, rounded once, or x if that is NaN. `shifted` is n + 1.5 * 2^23, so that its low bits
// hold n.
template <class D, class V>
HWY_INLINE V ScaledOrNaN(D d, V reduced, [[maybe_unused]] V n, [[maybe_unused]] V shifted,
                         [[maybe_unused]] V x) {
  namespace hn = hwy::HWY_NAMESPACE;
#if HWY_TARGET == HWY_AVX3
  // One instruction replaces the two products below. NaN has passed through min and max.
  return V{_mm512_scalef_ps(reduced.raw, n.raw)};
#else
  // Multiplies by 2^n in two factors. The first product is exact; the second rounds once where the result is
  // subnormal, and overflows where it must.
  const hn::RebindToSigned<D> di;
  const auto whole = hn::Sub(hn::BitCast(di, shifted), hn::Set(di, 0x4B400000));
  const auto half = hn::ShiftRight<1>(whole);
  const auto bias = hn::Set(di, 127);
  const V scale1 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(half, bias)));
  const V scale2 = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(hn::Sub(whole, half), bias)));
  const V result = hn::Mul(hn::Mul(reduced, scale1), scale2);
#if HWY_TARGET == HWY_AVX2
  return result;
#else
  // (Highway's Ne calls NaN equal to itself on some targets; Eq is ordered on all.)
  return hn::IfThenElse(hn::Eq(x, x), result, x);
#endif
#endif
}

#if !HWY_HAVE_SCALABLE
template <class D, class V>
HWY_INLINE Unrolled<V> ScaledOrNaN(D d, const Unrolled<V>& reduced, const Unrolled<V>& n,
                                   const Unrolled<V>& shifted, const Unrolled<V>& x) {
  return Unrolled<V>::Each([d](V one_reduced, V one_n, V one_shifted, V one_x)
                               HWY_ATTR { return ScaledOrNaN(d, one_reduced, one_n, one_shifted, one_x); },
                           reduced, n, shifted, x);
}
#endif

// x = n ln2 + r with |r| <= ln2 / 2, and exp(x) = 2^n exp(r). No operation is fused, so that instruction sets
// with and without fused multiply-add give the same bits. exp(r) = 1 + r + r^2 q(r), where q is a minimax
// polynomial of degree 4 for the relative error of exp(r), 2^-28.2. The rounding error of r is carried along.
// V is a vector or Unrolled.
template <class D, class V>
HWY_INLINE V Exp(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  using hn::Add;
  using hn::Max;
  using hn::Min;
  using hn::Mul;
  using hn::Sub;

  // Clamps to bounds whose results are 0 and infinity. NaN passes, because x86's min and max return the
  // second operand where one is NaN.
  const V clamped = Min(hn::Set(d, 89.0f), Max(hn::Set(d, -104.0f), x));

  // Adding 1.5 * 2^23 rounds to an integer and leaves it in the low bits.
  const auto magic = hn::Set(d, 0x1.8p23f);
  const V shifted = Add(Mul(clamped, hn::Set(d, 0x1.715476p0f)), magic);
  const V n = Sub(shifted, magic);

  // ln2 in two parts. The first has 9 bits, so that n times it and the difference are exact.
  const V high = Sub(clamped, Mul(n, hn::Set(d, 0x1.63p-1f)));
  const V small = Mul(n, hn::Set(d, -0x1.bd0106p-13f));
  const V r = Sub(high, small);
  const V lost = Sub(Sub(high, r), small);

  V q = hn::Set(d, 0x1.6a23a8p-10f);
  q = Add(Mul(q, r), hn::Set(d, 0x1.123a36p-7f));
  q = Add(Mul(q, r), hn::Set(d, 0x1.5558f4p-5f));
  q = Add(Mul(q, r), hn::Set(d, 0x1.55549p-3f));
  q = Add(Mul(q, r), hn::Set(d, 0x1.fffffcp-2f));
  const V tail = Add(Mul(Mul(r, r), q), lost);
  const V reduced = Add(hn::Set(d, 1.0f), Add(r, tail));
  return ScaledOrNaN(d, reduced, n, shifted, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
