// Formulas that take a number, the same for all elements, in place of an input. Compiled once per instruction
// set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_MAP_SCALAR_OPERAND_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_MAP_SCALAR_OPERAND_INL_H_
#undef PORTACL_ENGINE_MAP_SCALAR_OPERAND_INL_H_
#else
#define PORTACL_ENGINE_MAP_SCALAR_OPERAND_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/map/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// Uses the first scalar as the last input of `Whole`, a formula without scalars of its own.
template <class Whole>
struct WithLastScalar : Elementwise<WithLastScalar<Whole>> {
  using Parameters = engine::Scalars;
  using Lanes = typename Whole::Lanes;
  static constexpr int kInputs = Whole::kInputs - 1;
  static constexpr bool kTakes16BitFloats = Whole::kTakes16BitFloats;
  explicit WithLastScalar(const Parameters& parameters) : whole(parameters), scalars(parameters) {}

  template <class D, class... V>
  HWY_INLINE auto operator()(D d, V... inputs) const {
    return whole(d, inputs..., hn::Set(d, scalars.Get<hn::TFromD<D>>(0)));
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V a, V a_imaginary, V& real, V& imaginary) const {
    using T = hn::TFromD<D>;
    whole.OfParts(d, a, hn::Set(d, scalars.Get<T>(0)), a_imaginary, hn::Set(d, scalars.Get<T>(0, 1)), real,
                  imaginary);
  }

  Whole whole;
  engine::Scalars scalars;
};

// Uses the first scalar as one of two inputs: as the first one if the second scalar is not 0 (ScalarIsFirst),
// else as the second one. One loop serves both, for formulas that take long to compile.
template <class Whole>
struct WithEitherScalar : Elementwise<WithEitherScalar<Whole>> {
  using Parameters = engine::Scalars;
  using Lanes = typename Whole::Lanes;
  static constexpr int kInputs = 1;
  explicit WithEitherScalar(const Parameters& parameters)
      : whole(parameters), scalars(parameters), scalar_is_first(parameters.bytes[1][0] != 0) {}

  template <class D, class V>
  HWY_INLINE V operator()(D d, V input) const {
    const V number = hn::Set(d, scalars.Get<hn::TFromD<D>>(0));
    const V a = scalar_is_first ? number : input;
    const V b = scalar_is_first ? input : number;
    return whole(d, a, b);
  }
  template <class D, class V>
  HWY_INLINE void OfParts(D d, V input, V input_imaginary, V& real, V& imaginary) const {
    const V number = hn::Set(d, scalars.Get<hn::TFromD<D>>(0));
    const V number_imaginary = hn::Set(d, scalars.Get<hn::TFromD<D>>(0, 1));
    const V a = scalar_is_first ? number : input;
    const V b = scalar_is_first ? input : number;
    const V a_imaginary = scalar_is_first ? number_imaginary : input_imaginary;
    const V b_imaginary = scalar_is_first ? input_imaginary : number_imaginary;
    whole.OfParts(d, a, b, a_imaginary, b_imaginary, real, imaginary);
  }

  Whole whole;
  engine::Scalars scalars;
  bool scalar_is_first;
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
