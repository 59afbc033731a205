// a * x + y, shared by sums of tensors and of scalars. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ACLNNOP_ARITHMETIC_SUMS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ACLNNOP_ARITHMETIC_SUMS_INL_H_
#undef PORTACL_ACLNNOP_ARITHMETIC_SUMS_INL_H_
#else
#define PORTACL_ACLNNOP_ARITHMETIC_SUMS_INL_H_
#endif

#include <type_traits>

#include <hwy/highway.h>
#include "engine/functions/primitives-inl.h"
#include "engine/map/integers-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace sums {

using namespace engine::HWY_NAMESPACE;

using WideLanes = LaneTypes<float, double, int32_t, int64_t, Complex<float>, Complex<double>>;

// Computes factor * x + y. Floating numbers are rounded once.
template <class D, class V>
HWY_INLINE V Scaled(D d, V factor, V x, V y) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>) {
    return functions::Fma(d, factor, x, y);
  } else {
    return hn::Add(Multiply(d, factor, x), y);
  }
}

// Computes factor * x + y of complex numbers. A real factor multiplies both parts directly: a complex product
// would turn infinite parts into NaN.
template <class D, class V>
HWY_INLINE void ScaledParts(D d, V factor, V factor_imaginary, V x, V x_imaginary, V y, V y_imaginary,
                            V& real, V& imaginary) {
  real = functions::Fma(d, factor, x, y);
  imaginary = functions::Fma(d, factor, x_imaginary, y_imaginary);
  const auto is_real = hn::Eq(factor_imaginary, hn::Zero(d));
  const V turned = hn::Sub(real, hn::Mul(factor_imaginary, x_imaginary));
  const V turned_imaginary = hn::Add(imaginary, hn::Mul(factor_imaginary, x));
  real = hn::IfThenElse(is_real, real, turned);
  imaginary = hn::IfThenElse(is_real, imaginary, turned_imaginary);
}

}  // namespace sums
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
