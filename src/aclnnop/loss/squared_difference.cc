// The formula (self - target)^2 (see squared_difference.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/loss/squared_difference.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/loss/squared_difference.cc"
#include "base/foreach_target.h"

#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

struct SquaredDifference : engine::HWY_NAMESPACE::Summable<SquaredDifference> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 2;
  static constexpr bool kHasFastPath = true;

  explicit SquaredDifference(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V self, V target) const {
    const V difference = hn::Sub(self, target);
    return hn::Mul(difference, difference);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/map/dispatch.h"

namespace portacl {

engine::Kernels SquaredDifferenceKernels(Isa isa) noexcept {
  constexpr auto kKernels = PORTACL_KERNELS(SquaredDifference);
  return kKernels.For(isa);
}

}  // namespace portacl

#endif  // HWY_ONCE
