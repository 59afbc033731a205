// The error function, its complement and its inverse over float32 vectors.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_ERROR_FUNCTION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_ERROR_FUNCTION_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_ERROR_FUNCTION_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_ERROR_FUNCTION_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/functions/exponential-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// Uses x + x (c + e(x^2)) up to 0.8 (2^-33), then 1 - exp(l(|x|)) with a polynomial l for the logarithm of
// the complement (2^-32). The rounding error of l's last step is carried along. V is a vector or Unrolled.
template <Float32Lanes D, class V>
HWY_INLINE V Erf(D d, const V& x) {
  using hn::Add;
  using hn::Min;
  using hn::Mul;
  using hn::Sub;
  using One = hn::Vec<D>;
  const V a = EachVector(
      d, [](One v) HWY_ATTR { return hn::Abs(v); }, x);
  const V z = Mul(a, a);
  const V e = Polynomial(d, z, 0x1.7df75ep-14f, -0x1.b2f93p-11f, 0x1.55a4ap-8f, -0x1.b822a4p-6f,
                         0x1.ce2edcp-4f, -0x1.812746p-2f, 0x1.e94ca6p-31f);
  const V small = Add(a, Fma(d, a, hn::Set(d, 0x1.06eba8p-3f), Mul(a, e)));

  const V t = Min(a, hn::Set(d, 4.0f));
  const V g = Polynomial(d, t, -0x1.3d6382p-16f, 0x1.add35ap-12f, -0x1.09c562p-8f, 0x1.96b646p-6f,
                         -0x1.b9b3d2p-4f, -0x1.4478fp-1f, -0x1.211bc4p+0f);
  const One constant = hn::Set(d, 0x1.20ce2p-13f);
  const V l = Fma(d, g, t, constant);
  const V lost = Sub(constant, FmaNegated(d, g, t, l));
  // exp(l) = scale (1 + p), reduced as in Exp.
  const One shift = RoundingShift(d);
  const V shifted = Fma(d, l, hn::Set(d, 0x1.715476p0f), shift);
  const V n = Sub(shifted, shift);
  const V r =
      Add(FmaNegated(d, n, hn::Set(d, 0x1.62e43p-1f), l), Fma(d, n, hn::Set(d, 0x1.05c61p-29f), lost));
  const V q =
      Polynomial(d, r, 0x1.6a23a8p-10f, 0x1.123a36p-7f, 0x1.5558f4p-5f, 0x1.55549p-3f, 0x1.fffffcp-2f);
  const V p = Fma(d, Mul(r, r), q, r);
  return EachVector(
      d,
      [d](One argument, One near, One less_one, One exponent) HWY_ATTR {
        const hn::RebindToSigned<D> di;
        const One one = hn::Set(d, 1.0f);
        const One scale =
            hn::BitCast(d, hn::Add(hn::ShiftLeft<23>(hn::BitCast(di, exponent)), hn::BitCast(di, one)));
        const One far = FmaNegated(d, scale, less_one, hn::Sub(one, scale));
        const auto is_near = hn::Lt(hn::Abs(argument), hn::Set(d, 0.8f));
        return OrNan(WithSignOf(d, hn::IfThenElse(is_near, near, far), argument), argument);
      },
      x, small, p, shifted);
}

// exp(-x^2) p(t) / (1 + 2|x|), t = (|x| - 3.75) / (|x| + 3.75), 2^-37. Arguments beyond 10.2 are taken as
// 10.2.
template <class D, class V>
HWY_INLINE V ErfcInDouble(D d, V x) {
  const V a = hn::Min(hn::Abs(x), hn::Set(d, 10.2));
  const V centre = hn::Set(d, 3.75);
  const V t = hn::Div(hn::Sub(a, centre), hn::Add(a, centre));
  const V p =
      Polynomial(d, t, 0x1.090f05372b774p-15, 0x1.51bc12c677308p-15, -0x1.41f95409f870bp-12,
                 0x1.33559b18001c2p-12, 0x1.ce29f9bb5db82p-10, -0x1.3f4f37f09b4c2p-7, 0x1.d0aa70b65d12fp-6,
                 -0x1.e0d205d98a721p-5, 0x1.7a1435e321e7ep-4, -0x1.bda9249704707p-4, 0x1.510168c01e327p-4,
                 0x1.d5f288bf40f89p-9, -0x1.1f36768250406p-3, 0x1.3ccda0b5dd09dp+0);
  const V power = ExpInDouble(d, hn::Neg(hn::Mul(a, a)));
  const V tail = hn::Div(hn::Mul(power, p), Fma(d, hn::Set(d, 2.0), a, hn::Set(d, 1.0)));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, 2.0), tail), tail);
}

template <Float32Lanes D, class V>
HWY_INLINE V Erfc(D d, V x) {
  return OrNan(InDoubles(d, x, [](auto wide, auto v) HWY_ATTR { return ErfcInDouble(wide, v); }), x);
}

// x p(w), w = -log(1 - x^2), 2^-30. One polynomial in w serves up to 5, one in sqrt(w) up to 16.7, which is
// as far as float32 reaches. kFar adds a third one for the rest of float64.
template <bool kFar, class D, class V>
HWY_INLINE V ErfinvInDouble(D d, V x) {
  const V one = hn::Set(d, 1.0);
  const V w = hn::Neg(LogInDouble(d, hn::Mul(hn::Sub(one, x), hn::Add(one, x))));
  const V c = hn::Sub(w, hn::Set(d, 2.5));
  const V central = Polynomial(d, c, 0x1.24296d9ad00cdp-33, 0x1.e08633b16850dp-32, -0x1.7ac156787f0f3p-27,
                               0x1.1abb76f2fac82p-26, 0x1.018951ce47419p-21, -0x1.cbd4dfaa3882dp-19,
                               -0x1.4f760ad84e52ep-18, 0x1.c9bb5adbf30bcp-13, -0x1.486399e84914ap-10,
                               -0x1.11c3e0b227643p-8, 0x1.f91e89730137ap-3, 0x1.805c5cff6d820p+0);
  const V root = hn::Sqrt(hn::IfThenElse(hn::Gt(w, one), w, one));
  const V s = hn::Sub(root, hn::Set(d, 3.0));
  V tail = Polynomial(d, s, -0x1.d99a1b95600b4p-18, -0x1.3e0abb878892cp-16, 0x1.6503b203f04a5p-13,
                      -0x1.34ea8fe828c9dp-12, -0x1.05e5709f8e667p-13, 0x1.8549869df3d23p-10,
                      -0x1.d3639c83c0bdfp-9, 0x1.7497f7fc0be36p-8, -0x1.f4e323592ead6p-8,
                      0x1.35829c44b4a84p-7, 0x1.006dc9f732ccbp+0, 0x1.6a9efbd6c6ab0p+1);
  if constexpr (kFar) {
    const V far = Polynomial(d, hn::Sub(root, hn::Set(d, 5.0)), -0x1.87a3a638ef4c9p-24, 0x1.65dd18e6ec740p-22,
                             -0x1.0c38bb67c06dfp-20, 0x1.2903d70d74fd7p-18, -0x1.49ed1be3ad25cp-16,
                             0x1.3ee84ca769230p-14, -0x1.c2f64b9724341p-13, -0x1.22ed2120e7af8p-13,
                             0x1.02a30d214a70dp+0, 0x1.3664ddd1cca5cp+2);
    tail = hn::IfThenElse(hn::Lt(w, hn::Set(d, 16.7)), tail, far);
  }
  return hn::Mul(x, hn::IfThenElse(hn::Lt(w, hn::Set(d, 5.0)), central, tail));
}

template <Float32Lanes D, class V>
HWY_INLINE V Erfinv(D d, V x) {
  const V a = hn::Abs(x);
  const V one = hn::Set(d, 1.0f);
  const V result = InDoubles(d, a, [](auto wide, auto t) HWY_ATTR { return ErfinvInDouble<false>(wide, t); });
  const V limited =
      hn::IfThenElse(hn::Lt(a, one), result, hn::IfThenElse(hn::Eq(a, one), Infinity(d), NotANumber(d)));
  return OrNan(WithSignOf(d, limited, x), x);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
