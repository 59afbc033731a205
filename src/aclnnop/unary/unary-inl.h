// Formulas of functions of one tensor. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ACLNNOP_POINTWISE_UNARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ACLNNOP_POINTWISE_UNARY_INL_H_
#undef PORTACL_ACLNNOP_POINTWISE_UNARY_INL_H_
#else
#define PORTACL_ACLNNOP_POINTWISE_UNARY_INL_H_
#endif

#include "engine/functions/complex-inl.h"
#include "engine/functions/functions-inl.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

using engine::HWY_NAMESPACE::Complex;
using engine::HWY_NAMESPACE::Elementwise;
using engine::HWY_NAMESPACE::LaneTypes;
namespace functions = engine::HWY_NAMESPACE::functions;
namespace hn = hwy::HWY_NAMESPACE;

using RealLanes = LaneTypes<float, double>;
// Complex numbers of float32 are computed in float64 as well: one function serves both.
using FloatingLanes = LaneTypes<float, double, Complex<double>>;

template <class Formula, class LaneList, bool kWith16BitFloats = false>
struct Unary : Elementwise<Formula> {
  using Parameters = engine::Scalars;
  using Lanes = LaneList;
  static constexpr int kInputs = 1;
  static constexpr bool kTakes16BitFloats = kWith16BitFloats;
  explicit Unary(const Parameters&) {}
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard

// Defines the formula of functions::NAME. Pass true after the lanes if there are loops over 16-bit elements.
#ifndef PORTACL_UNARY_FORMULA
#define PORTACL_UNARY_FORMULA(name, ...)                                  \
  struct name : Unary<name, __VA_ARGS__> {                                \
    using Unary<name, __VA_ARGS__>::Unary;                                \
    template <class D, class V>                                           \
    HWY_INLINE V operator()(D d, V x) const {                             \
      return functions::name(d, x);                                       \
    }                                                                     \
    template <class D, class V>                                           \
    HWY_INLINE void OfParts(D d, V x, V y, V& real, V& imaginary) const { \
      functions::name(d, x, y, real, imaginary);                          \
    }                                                                     \
  };
#endif
