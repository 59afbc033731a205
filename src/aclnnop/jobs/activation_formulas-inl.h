// Parts of the formulas of activations, over float64 lanes of float32 numbers: the logistic function, GELU
// and their slopes. A result is thus rounded once. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ACLNNOP_ACTIVATIONS_FORMULAS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ACLNNOP_ACTIVATIONS_FORMULAS_INL_H_
#undef PORTACL_ACLNNOP_ACTIVATIONS_FORMULAS_INL_H_
#else
#define PORTACL_ACLNNOP_ACTIVATIONS_FORMULAS_INL_H_
#endif

#include "engine/functions/error_function-inl.h"
#include "engine/functions/exponential-inl.h"
#include "engine/functions/primitives-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

using engine::HWY_NAMESPACE::Elementwise;
using engine::HWY_NAMESPACE::LaneTypes;
namespace functions = engine::HWY_NAMESPACE::functions;
namespace hn = hwy::HWY_NAMESPACE;

// A formula with the operator's attributes as float32 (FloatsOf).
template <class Formula, int kCount, class LaneList = LaneTypes<float>>
struct Activation : Elementwise<Formula> {
  using Parameters = engine::Scalars;
  using Lanes = LaneList;
  static constexpr int kInputs = kCount;
  explicit Activation(const Parameters& parameters) : scalars(parameters) {}

  float Number(int i) const { return scalars.Get<float>(i / 4, i % 4); }
  template <class D>
  HWY_INLINE auto Set(D d, int i) const {
    return hn::Set(d, static_cast<hn::TFromD<D>>(Number(i)));
  }

  engine::Scalars scalars;
};

// Computes exp(x) - 1 for any x: zeros, infinities and NaN give the same as in C.
template <class D, class V>
HWY_INLINE V WholeExpm1(D d, V x) {
  const V power = hn::IfThenElse(hn::Eq(x, hn::Zero(d)), x, functions::Expm1InDouble(d, x));
  return functions::OrNan(hn::IfThenElse(hn::Gt(x, hn::Set(d, 700.0)), functions::Infinity(d), power), x);
}

// Computes the logistic function as `value`, and 1 minus it as `rest`, both to full precision. Either is 0
// below exp(-700).
template <class D, class V>
HWY_INLINE void LogisticInDouble(D d, V x, V& value, V& rest) {
  const V a = hn::Abs(x);
  const V e = functions::ExpInDouble(d, hn::Neg(a));
  const V larger = hn::Div(hn::Set(d, 1.0), hn::Add(hn::Set(d, 1.0), e));
  const V smaller = hn::IfThenElseZero(hn::Le(a, hn::Set(d, 700.0)), hn::Mul(e, larger));
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  value = functions::OrNan(hn::IfThenElse(is_negative, smaller, larger), x);
  rest = functions::OrNan(hn::IfThenElse(is_negative, larger, smaller), x);
}

template <class D, class V>
HWY_INLINE V LogisticInDouble(D d, V x) {
  V value;
  V rest;
  LogisticInDouble(d, x, value, rest);
  return value;
}

// Computes the derivative of x * logistic(beta x).
template <class D, class V>
HWY_INLINE V SwishSlopeInDouble(D d, V x, V beta) {
  const V z = hn::Mul(beta, x);
  V s;
  V rest;
  LogisticInDouble(d, z, s, rest);
  return hn::Mul(s, functions::Fma(d, z, rest, hn::Set(d, 1.0)));
}

// The fast path of common activations computes in float32, with a rounding or two more. Lanes far out, where
// float32 would underflow on the way, are computed in float64. No lane's result depends on whether another
// lane is far out.
template <class D, class V>
HWY_INLINE auto IsFarOut(D d, V x) {
  return hn::Lt(x, hn::Set(d, -80.0f));
}

// Computes x * logistic(x), given logistic(x) in `usual`. Recomputes it for x far out.
template <class D, class V>
HWY_INLINE V SiluFrom(D d, V x, V usual) {
  const V result = hn::Mul(x, usual);
  const auto is_far = IsFarOut(d, x);
  if (HWY_LIKELY(hn::AllFalse(d, is_far))) return result;
  const V far = functions::InDoubles(
      d, x, [](auto wide, auto t) HWY_ATTR { return hn::Mul(t, LogisticInDouble(wide, t)); });
  return hn::IfThenElse(is_far, far, result);
}

// Computes exp(-|x|). V is a vector or Unrolled.
template <class D, class V>
HWY_INLINE V Decay(D d, const V& x) {
  using One = hn::Vec<D>;
  return functions::Exp(d, functions::EachVector(
                               d, [](One v) HWY_ATTR { return hn::Neg(hn::Abs(v)); }, x));
}

// Computes a gradient times the derivative of x * logistic(x), given Decay(x).
template <class D, class V>
HWY_INLINE V SiluGradientFrom(D d, V gradient, V x, V decay) {
  const V one = hn::Set(d, 1.0f);
  const V larger = hn::Div(one, hn::Add(one, decay));
  const V smaller = hn::Mul(decay, larger);
  const auto is_negative = hn::Lt(x, hn::Zero(d));
  const V s = hn::IfThenElse(is_negative, smaller, larger);
  const V rest = hn::IfThenElse(is_negative, larger, smaller);
  const V usual = hn::Mul(gradient, hn::Mul(s, functions::Fma(d, x, rest, one)));
  const auto is_far = IsFarOut(d, x);
  if (HWY_LIKELY(hn::AllFalse(d, is_far))) return usual;
  const V far = functions::InDoubles(d, gradient, x, [](auto wide, auto g, auto t) HWY_ATTR {
    return hn::Mul(g, SwishSlopeInDouble(wide, t, hn::Set(wide, 1.0)));
  });
  return hn::IfThenElse(is_far, far, usual);
}

// GELU in two forms: by the normal distribution function, or by its approximation with tanh, x * logistic(c x
// + b x^3).
enum class GeluForm { kErf, kTanh };

inline constexpr double kGeluLinear = 0x1.9884533d43651p+0;  // sqrt(8 / pi)
inline constexpr double kGeluCubic = kGeluLinear * 0.044715;

// Computes the density of the normal distribution; 0 where it is below exp(-700).
template <class D, class V>
HWY_INLINE V DensityInDouble(D d, V x) {
  const V half = hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5));
  const V density =
      hn::Mul(functions::ExpInDouble(d, half), hn::Set(d, 0x1.9884533d43651p-2));  // 1 / sqrt(2 pi)
  return hn::IfThenElseZero(hn::Ge(half, hn::Set(d, -700.0)), density);
}

// Computes the normal distribution function. Far out it underflows in float32, but a large factor can lift it
// back; there it is computed by its asymptotic series, within 2^-32. No lane's result depends on whether
// another lane is far out.
template <class D, class V>
HWY_INLINE V NormalInDouble(D d, V x) {
  const V near =
      hn::Mul(hn::Set(d, 0.5), functions::ErfcInDouble(d, hn::Mul(x, hn::Set(d, -0x1.6a09e667f3bcdp-1))));
  const auto is_far = hn::Lt(x, hn::Set(d, -14.42));
  if (HWY_LIKELY(hn::AllFalse(d, is_far))) return near;
  const V inverse = hn::Div(hn::Set(d, -1.0), x);
  const V series = functions::Polynomial(d, hn::Mul(inverse, inverse), -945.0, 105.0, -15.0, 3.0, -1.0, 1.0);
  return hn::IfThenElse(is_far, hn::Mul(DensityInDouble(d, x), hn::Mul(inverse, series)), near);
}

template <class D, class V>
HWY_INLINE V GeluArgument(D d, V x) {
  const V cubic = functions::Fma(d, hn::Mul(x, x), hn::Set(d, kGeluCubic), hn::Set(d, kGeluLinear));
  return hn::Mul(x, cubic);
}

template <GeluForm kForm, class D, class V>
HWY_INLINE V GeluInDouble(D d, V x) {
  if constexpr (kForm == GeluForm::kErf) {
    return hn::Mul(x, NormalInDouble(d, x));
  } else {
    return hn::Mul(x, LogisticInDouble(d, GeluArgument(d, x)));
  }
}

// The tanh form takes 0 for the second term where it is NaN, so that the slope at infinities is 0 or 1.
template <GeluForm kForm, class D, class V>
HWY_INLINE V GeluSlopeInDouble(D d, V x) {
  if constexpr (kForm == GeluForm::kErf) {
    return functions::OrNan(functions::Fma(d, x, DensityInDouble(d, x), NormalInDouble(d, x)), x);
  } else {
    V s;
    V rest;
    LogisticInDouble(d, GeluArgument(d, x), s, rest);
    const V inner = functions::Fma(d, hn::Mul(x, x), hn::Set(d, 3 * kGeluCubic), hn::Set(d, kGeluLinear));
    const V more = hn::Mul(hn::Mul(s, rest), hn::Mul(x, inner));
    return functions::OrNan(hn::Add(s, hn::IfThenElseZero(hn::Eq(more, more), more)), x);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
