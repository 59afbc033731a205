// The vector loop of updates: applies a formula to full vectors of float32 and to tails. Compiled once per
// instruction set and formula.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_UPDATE_UPDATE_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_UPDATE_UPDATE_LOOP_INL_H_
#undef PORTACL_ENGINE_UPDATE_UPDATE_LOOP_INL_H_
#else
#define PORTACL_ENGINE_UPDATE_UPDATE_LOOP_INL_H_
#endif

#include <cstring>

#include "engine/functions/primitives-inl.h"
#include "engine/map/vector_loop-inl.h"
#include "engine/update/update.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// A formula has kOperands, of which it overwrites the first kOutputs, and is constructed from its numbers. It
// receives and changes a vector of each; `found` marks the elements that meet its condition.
template <class Formula>
struct Update {
  static Isa Run(const float* numbers, UpdateWork& work) {
    constexpr int kOperands = Formula::kOperands;
    constexpr int kOutputs = Formula::kOutputs;
    using D = hn::ScalableTag<float>;
    const D d;
    const size_t lanes = hn::Lanes(d);
    const Formula formula(numbers);
    auto found = hn::Zero(d);
    size_t i = 0;
    for (; i + lanes <= work.n; i += lanes) Step(d, formula, work.operand, i, found);
    if (i < work.n) {
      const size_t bytes = (work.n - i) * sizeof(float);
      alignas(64) float padded[kMaxUpdateOperands][kRepeated] = {};
      float* rest[kMaxUpdateOperands];
      for (int k = 0; k < kOperands; ++k) {
        std::memcpy(padded[k], work.operand[k] + i, bytes);
        rest[k] = padded[k];
      }
      Step(d, formula, rest, 0, found);
      for (int k = 0; k < kOutputs; ++k) std::memcpy(work.operand[k] + i, padded[k], bytes);
    }
    work.found = work.found || !hn::AllTrue(d, hn::Eq(found, hn::Zero(d)));
    return ThisIsa();
  }

 private:
  // Uses no arrays of vectors, since those of scalable instruction sets cannot be in one.
  template <class D, class V>
  static HWY_INLINE void Step(D d, const Formula& formula, float* const* operand, size_t i, V& found) {
    const auto load = [&](int k) {
      return k < Formula::kOperands ? hn::LoadU(d, operand[k] + i) : hn::Zero(d);
    };
    V a = load(0);
    V b = load(1);
    V c = load(2);
    V e = load(3);
    V f = load(4);
    formula(d, a, b, c, e, f, found);
    hn::StoreU(a, d, operand[0] + i);
    if constexpr (Formula::kOutputs > 1) hn::StoreU(b, d, operand[1] + i);
    if constexpr (Formula::kOutputs > 2) hn::StoreU(c, d, operand[2] + i);
    if constexpr (Formula::kOutputs > 3) hn::StoreU(e, d, operand[3] + i);
    if constexpr (Formula::kOutputs > 4) hn::StoreU(f, d, operand[4] + i);
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
