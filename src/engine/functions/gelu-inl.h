// GELU of vectors, by the error function and by the hyperbolic tangent.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_GELU_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_GELU_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_GELU_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_GELU_INL_H_
#endif

#include <hwy/highway.h>
#include "engine/functions/functions-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

namespace hn = hwy::HWY_NAMESPACE;

template <class D, class V>
HWY_INLINE V GeluByErf(D d, V x) {
  const V shifted = hn::Add(hn::Set(d, 1.0f), Erf(d, hn::Mul(x, hn::Set(d, 0.70710678f))));
  return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), shifted);
}
template <class D, class V>
HWY_INLINE V GeluByTanh(D d, V x) {
  const V cube = hn::Mul(hn::Mul(x, x), x);
  const V inner = hn::Mul(hn::Set(d, 0.7978845608028654f), Fma(d, hn::Set(d, 0.044715f), cube, x));
  return hn::Mul(hn::Mul(hn::Set(d, 0.5f), x), hn::Add(hn::Set(d, 1.0f), Tanh(d, inner)));
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // PORTACL_ENGINE_FUNCTIONS_GELU_INL_H_
