// Relations of two numbers, as formulas of two tensors or of a tensor and a scalar. Compiled once per
// instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ACLNNOP_POINTWISE_COMPARISONS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ACLNNOP_POINTWISE_COMPARISONS_INL_H_
#undef PORTACL_ACLNNOP_POINTWISE_COMPARISONS_INL_H_
#else
#define PORTACL_ACLNNOP_POINTWISE_COMPARISONS_INL_H_
#endif

#include <cstdint>

#include "aclnnop/logic/comparison.h"
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {
namespace comparisons {

using namespace engine::HWY_NAMESPACE;

// Unsigned numbers of 16 and 32 bits are compared as int32 or int64.
using EqualLanes = LaneTypes<float, double, int8_t, uint8_t, int16_t, int32_t, int64_t, Bool, Complex<float>,
                             Complex<double>>;
using LessLanes = LaneTypes<float, double, int8_t, uint8_t, int16_t, int32_t, int64_t, uint64_t, Bool>;
using FloatingLanes = LaneTypes<float, double>;

struct IsEqual {
  using Lanes = EqualLanes;
  template <class V>
  static HWY_INLINE auto Test(V a, V b) {
    return hn::Eq(a, b);
  }
};

struct IsLess {
  using Lanes = LessLanes;
  template <class V>
  static HWY_INLINE auto Test(V a, V b) {
    return hn::Lt(a, b);
  }
};

// Integers use the opposite of IsLess with swapped operands instead.
struct IsLessOrEqual {
  using Lanes = FloatingLanes;
  template <class V>
  static HWY_INLINE auto Test(V a, V b) {
    return hn::Le(a, b);
  }
};

// A relation or its opposite: a != b is the opposite of a == b, for NaN too.
template <class Relation>
struct Comparison {
  using Parameters = engine::Scalars;
  using Lanes = typename Relation::Lanes;
  static constexpr bool kWritesBool = true;
  static constexpr bool kTakes16BitFloats = true;
  explicit Comparison(const Parameters& parameters) : scalars(parameters) {}

  template <class D, class V>
  HWY_INLINE auto Test(D d, V a, V b) const {
    return hn::Xor(Relation::Test(a, b), IsOpposite(d));
  }
  template <class D, class V>
  HWY_INLINE auto Test(D d, V a, V b, V a_imaginary, V b_imaginary) const {
    return hn::Xor(hn::And(Relation::Test(a, b), Relation::Test(a_imaginary, b_imaginary)), IsOpposite(d));
  }
  template <class D>
  HWY_INLINE auto IsOpposite(D d) const {
    using T = hn::TFromD<D>;
    return hn::Eq(hn::Set(d, static_cast<T>(scalars.Get<uint8_t>(portacl::comparisons::kMirroredOperands))),
                  hn::Set(d, T{1}));
  }

  engine::Scalars scalars;
};

template <class Relation>
struct OfTensors : Comparison<Relation>, Elementwise<OfTensors<Relation>> {
  using Base = Comparison<Relation>;
  using Lanes = typename Base::Lanes;
  static constexpr int kInputs = 2;
  static constexpr bool kWritesBool = Base::kWritesBool;
  static constexpr bool kTakes16BitFloats = Base::kTakes16BitFloats;
  using Base::Base;

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a, V b) const {
    return Base::Test(d, a, b);
  }
  template <class D, class V>
  HWY_INLINE auto OfParts(D d, V a, V b, V a_imaginary, V b_imaginary) const {
    return Base::Test(d, a, b, a_imaginary, b_imaginary);
  }
};

template <class Relation, bool kScalarFirst = false>
struct OfScalar : Comparison<Relation>, Elementwise<OfScalar<Relation, kScalarFirst>> {
  using Base = Comparison<Relation>;
  using Lanes = typename Base::Lanes;
  static constexpr int kInputs = 1;
  static constexpr bool kWritesBool = Base::kWritesBool;
  static constexpr bool kTakes16BitFloats = Base::kTakes16BitFloats;
  using Base::Base;

  template <class D, class V>
  HWY_INLINE auto operator()(D d, V a) const {
    const V scalar = hn::Set(d, Base::scalars.template Get<hn::TFromD<D>>(0));
    if constexpr (kScalarFirst) {
      return Base::Test(d, scalar, a);
    } else {
      return Base::Test(d, a, scalar);
    }
  }
  template <class D, class V>
  HWY_INLINE auto OfParts(D d, V a, V a_imaginary) const {
    using T = hn::TFromD<D>;
    return Base::Test(d, a, hn::Set(d, Base::scalars.template Get<T>(0)), a_imaginary,
                      hn::Set(d, Base::scalars.template Get<T>(0, 1)));
  }
};

}  // namespace comparisons
}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
