// The formula of plain sums (see sum_of_terms.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/jobs/sum_of_terms.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "aclnnop/jobs/sum_of_terms.cc"
#include "base/foreach_target.h"

#include "engine/reduction/sum_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

struct Term : engine::HWY_NAMESPACE::Summable<Term> {
  using Parameters = engine::NoParameters;
  static constexpr int kInputs = 1;
  static constexpr bool kHasFastPath = true;

  explicit Term(const Parameters&) {}

  template <class D, class V>
  HWY_INLINE V operator()(D, V x) const {
    return x;
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/map/dispatch.h"

namespace portacl {

engine::Kernels TermKernels(Isa isa) noexcept {
  constexpr auto kKernels = PORTACL_KERNELS(Term);
  return kKernels.For(isa);
}

}  // namespace portacl

#endif  // HWY_ONCE
