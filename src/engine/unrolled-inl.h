// Groups of vectors that are processed together. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_UNROLLED_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_UNROLLED_INL_H_
#undef PORTACL_ENGINE_UNROLLED_INL_H_
#else
#define PORTACL_ENGINE_UNROLLED_INL_H_
#endif

#include <cstddef>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// Scalable vectors cannot be members.
#if HWY_HAVE_SCALABLE
constexpr bool kHasUnrolled = false;
#else
constexpr bool kHasUnrolled = true;

// Four vectors. A function of many dependent steps takes a third less time for four vectors together than one
// after the other, because the processor does not look far enough ahead to overlap them. Operations have
// Highway's names and are found by the type of their arguments.
template <class V>
struct Unrolled {
  static constexpr size_t kCount = 4;
  V part[kCount];

  // Constructors are explicit, because gcc compiles implicit ones for no instruction set.
  HWY_INLINE Unrolled() {}                                     // NOLINT(*-member-init, *-use-equals-default)
  HWY_INLINE Unrolled(V first, V second, V third, V fourth) {  // NOLINT(*-member-init)
    part[0] = first;
    part[1] = second;
    part[2] = third;
    part[3] = fourth;
  }
  // Holds the vector four times.
  HWY_INLINE Unrolled(V one) : Unrolled(one, one, one, one) {}  // NOLINT(*-explicit-*)

  // Applies f to each position's vectors.
  template <class F, class... More>
  static HWY_INLINE Unrolled Each(const F& f, const More&... operands) {
    return Unrolled(f(operands.part[0]...), f(operands.part[1]...), f(operands.part[2]...),
                    f(operands.part[3]...));
  }

  friend HWY_INLINE Unrolled Add(const Unrolled& a, const Unrolled& b) {
    return Each([](V x, V y) HWY_ATTR { return hwy::HWY_NAMESPACE::Add(x, y); }, a, b);
  }
  friend HWY_INLINE Unrolled Sub(const Unrolled& a, const Unrolled& b) {
    return Each([](V x, V y) HWY_ATTR { return hwy::HWY_NAMESPACE::Sub(x, y); }, a, b);
  }
  friend HWY_INLINE Unrolled Mul(const Unrolled& a, const Unrolled& b) {
    return Each([](V x, V y) HWY_ATTR { return hwy::HWY_NAMESPACE::Mul(x, y); }, a, b);
  }
  friend HWY_INLINE Unrolled Min(const Unrolled& a, const Unrolled& b) {
    return Each([](V x, V y) HWY_ATTR { return hwy::HWY_NAMESPACE::Min(x, y); }, a, b);
  }
  friend HWY_INLINE Unrolled Max(const Unrolled& a, const Unrolled& b) {
    return Each([](V x, V y) HWY_ATTR { return hwy::HWY_NAMESPACE::Max(x, y); }, a, b);
  }
};
#endif

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
