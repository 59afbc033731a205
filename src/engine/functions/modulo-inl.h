// Exact remainders of arguments of any magnitude over float32 and float64 vectors; the reciprocal square
// root.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_MODULO_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_MODULO_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_MODULO_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_MODULO_INL_H_
#endif

#include <cmath>
#include <cstddef>
#include <limits>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// Returns x - n y as C's fmod, where n is the truncated quotient. If n has fewer than 22 bits (float64: 51),
// two exact steps suffice, because the rounded quotient is at most the next integer. Other lanes call C's
// function one by one, which is exact and so the same everywhere.
template <class D, class V>
HWY_INLINE V Fmod(D d, V x, V y) {
  using T = Number<D>;
  const V a = hn::Abs(x);
  const V b = hn::Abs(y);
  const V quotient = hn::Div(a, b);
  const V n = Trunc(d, quotient);
  V rest = FmaNegated(d, n, b, a);
  rest = hn::IfThenElse(hn::Lt(rest, hn::Zero(d)), hn::Add(rest, b), rest);
  V result = WithSignOf(d, rest, x);
  const auto is_quick = hn::And(
      hn::Lt(quotient, hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 0x1p22 : 0x1p51))), hn::Lt(b, Infinity(d)));
  if (HWY_LIKELY(hn::AllTrue(d, is_quick))) return result;
  HWY_ALIGN T xs[hn::MaxLanes(d)];
  HWY_ALIGN T ys[hn::MaxLanes(d)];
  hn::Store(x, d, xs);
  hn::Store(y, d, ys);
  for (size_t i = 0; i < hn::Lanes(d); ++i) xs[i] = std::fmod(xs[i], ys[i]);
  return hn::IfThenElse(is_quick, result, hn::Load(d, xs));
}

// Returns the remainder with the sign of y: y is added to Fmod's result where the signs differ, as PyTorch
// does.
template <class D, class V>
HWY_INLINE V Remainder(D d, V x, V y) {
  const V rest = Fmod(d, x, y);
  const V zero = hn::Zero(d);
  const auto is_other_side = hn::Xor(hn::Lt(y, zero), hn::Lt(rest, zero));
  const auto is_zero = hn::Eq(rest, zero);
  return hn::IfThenElse(hn::AndNot(is_zero, is_other_side), hn::Add(rest, y), rest);
}

// Computes 1 / sqrt(x) and refines it by one Newton step that carries the product's rounding error along.
// Without the step the two roundings make up to 1.5 ulp.
template <class D, class V>
HWY_INLINE V Rsqrt(D d, V x) {
  const V one = hn::Set(d, static_cast<Number<D>>(1));
  const V y = hn::Div(one, hn::Sqrt(x));
  const V product = hn::Mul(x, y);
  const V rounding = FmaNegated(d, x, y, product);
  const V excess = Fma(d, rounding, y, FmaNegated(d, product, y, one));
  const V result = Fma(d, hn::Mul(y, hn::Set(d, static_cast<Number<D>>(0.5))), excess, y);
  // y is right wherever x or y is not finite.
  return hn::IfThenElse(hn::Eq(excess, excess), result, y);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
