// exp in float32 over Highway vectors by fused multiply-adds, in fewer steps than engine/functions/exp-inl.h.
// Rowwise passes that are bound by it use it. The bits are the same on every instruction set, but differ from
// those of Exp.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_FUNCTIONS_FUSED_EXP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_FUNCTIONS_FUSED_EXP_INL_H_
#undef PORTACL_ENGINE_FUNCTIONS_FUSED_EXP_INL_H_
#else
#define PORTACL_ENGINE_FUNCTIONS_FUSED_EXP_INL_H_
#endif

#include "engine/functions/exp-inl.h"
#include "engine/functions/primitives-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {
namespace functions {

// x = n ln2 + r with |r| <= ln2 / 2. ln2 has two parts, whose products are fused. exp(r) = 1 + (r + r^2 q(r))
// with the q of Exp. V is a vector or Unrolled.
template <Float32Lanes D, class V>
HWY_INLINE V FusedExp(D d, V x) {
  using One = hn::Vec<D>;
  using hn::Add;
  using hn::Max;
  using hn::Min;
  using hn::Mul;
  using hn::Sub;
  const auto fma = [d](One a, One b, One c) HWY_ATTR { return Fma(d, a, b, c); };
  const auto step = [&](const V& a, const V& b, float c)
                        HWY_ATTR { return EachVector(d, fma, a, b, V(hn::Set(d, c))); };
  // This order of operands lets NaN pass (see Exp).
  const V clamped = Min(V(hn::Set(d, 89.0f)), Max(V(hn::Set(d, -104.0f)), x));
  const V shifted = step(clamped, V(hn::Set(d, 0x1.715476p0f)), 0x1.8p23f);
  const V n = Sub(shifted, V(hn::Set(d, 0x1.8p23f)));
  const V high = EachVector(d, fma, n, V(hn::Set(d, -0x1.62e43p-1f)), clamped);
  const V r = EachVector(d, fma, n, V(hn::Set(d, 0x1.05c61p-29f)), high);
  V q = step(V(hn::Set(d, 0x1.6a23a8p-10f)), r, 0x1.123a36p-7f);
  q = step(q, r, 0x1.5558f4p-5f);
  q = step(q, r, 0x1.55549p-3f);
  q = step(q, r, 0x1.fffffcp-2f);
  const V reduced = Add(V(hn::Set(d, 1.0f)), EachVector(d, fma, Mul(r, r), q, r));
  return ScaledOrNaN(d, reduced, n, shifted, x);
}

// Float64 has only one exp.
template <Float64Lanes D, class V>
HWY_INLINE V FusedExp(D d, V x) {
  return Exp(d, x);
}

}  // namespace functions
}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
