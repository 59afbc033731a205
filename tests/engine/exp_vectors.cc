// The library's exp over arrays: see exp_vectors.h. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "engine/exp_vectors.h"

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/exp_vectors.cc"
#include <hwy/foreach_target.h>

#include "engine/functions/exp-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl {
namespace HWY_NAMESPACE {

void RunExp(const float* x, float* result, size_t n) {
  namespace hn = hwy::HWY_NAMESPACE;
  const hn::ScalableTag<float> d;
  for (size_t i = 0; i < n; i += hn::Lanes(d)) {
    hn::StoreU(engine::HWY_NAMESPACE::Exp(d, hn::LoadU(d, x + i)), d, result + i);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl {
namespace {

constexpr auto kRunExp = PORTACL_ISA_TABLE(RunExp);

}  // namespace

void testing::ExpOf(Isa isa, const float* x, float* result, size_t n) { kRunExp.For(isa)(x, result, n); }

}  // namespace portacl

#endif  // HWY_ONCE
