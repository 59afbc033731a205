// log over Highway vectors: the nearest float32 in all but a handful of cases, at most 1 ulp always, and the
// same bits on every instruction set (decision N7).
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_LOG_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_LOG_INL_H_
#undef PORTACL_ENGINE_LOG_INL_H_
#else
#define PORTACL_ENGINE_LOG_INL_H_
#endif

#include <cstdint>
#include <limits>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// n ln2 + log(1 + f) in float64, to less than 1 ulp of float64. With s = f / (2 + f), log(1 + f) = 2 atanh(s) =
// 2 s + s z q(z), z = s^2; q is a minimax polynomial of degree 6, 2^-57.6 of the logarithm. f leads the sum, so
// that its full precision remains where the result is small. No operation is fused.
template <class D, class V>
HWY_INLINE V LogOfParts(D d, V n, V f) {
  namespace hn = hwy::HWY_NAMESPACE;
  const V s = hn::Div(f, hn::Add(hn::Set(d, 2.0), f));
  const V z = hn::Mul(s, s);
  V q = hn::Set(d, 0x1.2b584aae78a57p-3);
  q = hn::Add(hn::Mul(q, z), hn::Set(d, 0x1.39fe606542ddep-3));
  q = hn::Add(hn::Mul(q, z), hn::Set(d, 0x1.7462b4ab2ef6bp-3));
  q = hn::Add(hn::Mul(q, z), hn::Set(d, 0x1.c71c62e5800a1p-3));
  q = hn::Add(hn::Mul(q, z), hn::Set(d, 0x1.2492492df148dp-2));
  q = hn::Add(hn::Mul(q, z), hn::Set(d, 0x1.99999999952e2p-2));
  q = hn::Add(hn::Mul(q, z), hn::Set(d, 0x1.5555555555558p-1));
  // 2 s = f - s f and f = 2 s + s f give log(1 + f) = f - (f^2 / 2 - s (f^2 / 2 + z q)).
  const V half_square = hn::Mul(hn::Mul(hn::Set(d, 0.5), f), f);
  const V correction = hn::Mul(s, hn::Add(half_square, hn::Mul(z, q)));
  // ln2 in two parts; n times the first, of 42 bits, is exact.
  const V low = hn::Add(correction, hn::Mul(n, hn::Set(d, 0x1.ef35793c76730p-45)));
  const V high = hn::Mul(n, hn::Set(d, 0x1.62e42fefa3800p-1));
  return hn::Add(high, hn::Sub(f, hn::Sub(half_square, low)));
}

// x = 2^n (1 + f) with 1 + f in [1/sqrt2, sqrt2): exact in float32. The rest is computed in float64 and rounded
// once.
template <class D, class V>
HWY_INLINE V Log(D d, V x) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::RebindToSigned<D> di;

  // Subnormal numbers are made normal first.
  const auto is_small = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const V normal = hn::IfThenElse(is_small, hn::Mul(x, hn::Set(d, 0x1p23f)), x);
  const auto bits = hn::BitCast(di, normal);
  const auto offset = hn::Sub(bits, hn::Set(di, 0x3F3504F3));  // 1/sqrt2, rounded down
  const auto exponent = hn::ShiftRight<23>(offset);
  const V f = hn::Sub(hn::BitCast(d, hn::Sub(bits, hn::ShiftLeft<23>(exponent))), hn::Set(d, 1.0f));
  const V n = hn::Sub(hn::ConvertTo(d, exponent), hn::IfThenElseZero(is_small, hn::Set(d, 23.0f)));

#if HWY_TARGET == HWY_SCALAR
  const hn::Rebind<double, D> dd;
  V result = hn::DemoteTo(d, LogOfParts(dd, hn::PromoteTo(dd, n), hn::PromoteTo(dd, f)));
#else
  const hn::Half<D> dh;
  const hn::Rebind<double, decltype(dh)> dd;
  const auto lower =
      LogOfParts(dd, hn::PromoteTo(dd, hn::LowerHalf(dh, n)), hn::PromoteTo(dd, hn::LowerHalf(dh, f)));
  const auto upper =
      LogOfParts(dd, hn::PromoteTo(dd, hn::UpperHalf(dh, n)), hn::PromoteTo(dd, hn::UpperHalf(dh, f)));
  V result = hn::Combine(d, hn::DemoteTo(dh, upper), hn::DemoteTo(dh, lower));
#endif

  const V infinity = hn::Set(d, std::numeric_limits<float>::infinity());
  result = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), hn::Neg(infinity), result);
  result =
      hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Set(d, std::numeric_limits<float>::quiet_NaN()), result);
  result = hn::IfThenElse(hn::Eq(x, infinity), infinity, result);
  // NaN stays NaN. (Highway's Ne calls NaN equal to itself on some targets; Eq is ordered on all.)
  return hn::IfThenElse(hn::Eq(x, x), result, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
