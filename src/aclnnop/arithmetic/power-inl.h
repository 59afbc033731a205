// Powers of real and complex numbers and of integers, shared by operators of tensors and of scalars. Compiled
// once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ACLNNOP_ARITHMETIC_POWER_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ACLNNOP_ARITHMETIC_POWER_INL_H_
#undef PORTACL_ACLNNOP_ARITHMETIC_POWER_INL_H_
#else
#define PORTACL_ACLNNOP_ARITHMETIC_POWER_INL_H_
#endif

#include <type_traits>

#include <hwy/highway.h>
#include "engine/functions/float64-inl.h"
#include "engine/functions/logarithmic-inl.h"
#include "engine/map/integers-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace powers {

using namespace engine::HWY_NAMESPACE;

// Computes exp(y log(x)) for x = (a, b) and y = (c, e), in float64. The result is 1 where y is 0. A real y
// multiplies both parts of log(x) directly: a complex product would turn infinite parts into NaN.
template <class D, class V>
HWY_INLINE void ComplexPower(D d, V a, V b, V c, V e, V& real, V& imaginary) {
  const V zero = hn::Zero(d);
  const V one = hn::Set(d, 1.0);
  const auto is_real = hn::Eq(e, zero);
  const V greater = hn::Max(hn::Abs(a), hn::Abs(b));
  const V lesser = hn::Min(hn::Abs(a), hn::Abs(b));
  const V ratio = hn::IfThenElse(hn::Eq(lesser, zero), zero, hn::Div(lesser, greater));
  const V half = hn::Mul(hn::Set(d, 0.5), functions::Log1p(d, hn::Mul(ratio, ratio)));
  const V log = hn::Add(functions::Log(d, greater), half);
  const V angle = functions::Atan2(d, b, a);
  const V exponent = hn::Sub(hn::Mul(c, log), hn::IfThenElse(is_real, zero, hn::Mul(e, angle)));
  const V turn = hn::Add(hn::Mul(c, angle), hn::IfThenElse(is_real, zero, hn::Mul(e, log)));
  // 0 to a power with a positive real part is 0.
  const auto is_zero = hn::And(hn::Eq(greater, zero), hn::Lt(zero, c));
  const V magnitude = functions::Exp(d, exponent);
  const auto is_one = hn::And(is_real, hn::Eq(c, zero));
  const V cosine = hn::Mul(magnitude, functions::Cos(d, turn));
  real = hn::IfThenElse(is_one, one, hn::IfThenElse(is_zero, zero, cosine));
  const V sine = hn::Mul(magnitude, functions::Sin(d, turn));
  imaginary = hn::IfThenElse(hn::Or(hn::Or(is_one, is_zero), hn::Eq(turn, zero)), zero, sine);
}

struct Power : Elementwise<Power> {
  using Parameters = engine::Scalars;
  using Lanes = LaneTypes<float, double, int32_t, int64_t, Complex<float>, Complex<double>>;
  static constexpr int kInputs = 2;
  explicit Power(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V base, V exponent) const {
    if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
      return functions::Pow(d, base, exponent);
    } else {
      return IntegerPower(d, base, exponent);
    }
  }

  template <class D, class V>
  HWY_INLINE void OfParts(D d, V a, V c, V b, V e, V& real, V& imaginary) const {
    if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
      ComplexPower(d, a, b, c, e, real, imaginary);
    } else {
#if HWY_TARGET == HWY_SCALAR
      InDouble(d, a, b, c, e, real, imaginary);
#else
      const hn::Half<D> half;
      hn::Vec<hn::Half<D>> low;
      hn::Vec<hn::Half<D>> low_imaginary;
      hn::Vec<hn::Half<D>> high;
      hn::Vec<hn::Half<D>> high_imaginary;
      InDouble(half, hn::LowerHalf(half, a), hn::LowerHalf(half, b), hn::LowerHalf(half, c),
               hn::LowerHalf(half, e), low, low_imaginary);
      InDouble(half, hn::UpperHalf(half, a), hn::UpperHalf(half, b), hn::UpperHalf(half, c),
               hn::UpperHalf(half, e), high, high_imaginary);
      real = hn::Combine(d, high, low);
      imaginary = hn::Combine(d, high_imaginary, low_imaginary);
#endif
    }
  }

 private:
  template <class D, class V>
  static HWY_INLINE void InDouble(D d, V a, V b, V c, V e, V& real, V& imaginary) {
    const hn::Rebind<double, D> wide;
    hn::Vec<hn::Rebind<double, D>> x;
    hn::Vec<hn::Rebind<double, D>> y;
    ComplexPower(wide, hn::PromoteTo(wide, a), hn::PromoteTo(wide, b), hn::PromoteTo(wide, c),
                 hn::PromoteTo(wide, e), x, y);
    real = functions::Narrowed(d, x);
    imaginary = functions::Narrowed(d, y);
  }
};

}  // namespace powers
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
