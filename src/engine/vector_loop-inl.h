// The vector loop that feeds a formula full float32 vectors, tails included. Compiled once per instruction
// set and formula.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_VECTOR_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_VECTOR_LOOP_INL_H_
#undef PORTACL_ENGINE_VECTOR_LOOP_INL_H_
#else
#define PORTACL_ENGINE_VECTOR_LOOP_INL_H_
#endif

#include <cstddef>
#include <cstring>
#include <utility>

#include <hwy/highway.h>
#include "acl/isa.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr Isa ThisIsa() {
  if (HWY_TARGET == HWY_AVX3) return Isa::kAvx512;
  if (HWY_TARGET == HWY_AVX2) return Isa::kAvx2;
  if (HWY_TARGET == HWY_NEON || (HWY_NEON_WITHOUT_AES != 0 && HWY_TARGET == HWY_NEON_WITHOUT_AES))
    return Isa::kNeon;
  if (HWY_TARGET == HWY_SVE) return Isa::kSve;
  return Isa::kPortable;
}

// out[i] = formula(in[0][i], in[1][i], ...) for i in [0, n). Formula::operator() takes a Highway tag and one
// vector per input. Never reads or writes outside [0, n): the last, partial vector goes through padded
// buffers on the stack and through the same code, so a result never depends on its position. `out` may be one
// of the inputs.
template <class Formula, size_t... kInput>
HWY_INLINE void VectorLoopOver(const Formula& formula, const float* const* in, const size_t* step, float* out,
                               size_t n, std::index_sequence<kInput...>) {
  const hn::ScalableTag<float> d;
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    hn::StoreU(formula(d, hn::LoadU(d, in[kInput] + i * step[kInput])...), d, out + i);
  }
  if (i == n) return;
  const size_t rest = n - i;
  HWY_ALIGN float tail[sizeof...(kInput) + 1][HWY_MAX_BYTES / sizeof(float)] = {};
  (..., std::memcpy(tail[kInput], in[kInput] + i * step[kInput], rest * sizeof(float)));
  float* result = tail[sizeof...(kInput)];
  hn::Store(formula(d, hn::Load(d, tail[kInput])...), d, result);
  std::memcpy(out + i, result, rest * sizeof(float));
}

// The entry of a formula's dispatch table: unpacks the parameters, runs, reports the instruction set.
template <class Formula>
HWY_INLINE Isa RunVectorLoop(const void* parameters, const float* const* in, const size_t* step, float* out,
                             size_t n) {
  const Formula formula(*static_cast<const typename Formula::Parameters*>(parameters));
  VectorLoopOver(formula, in, step, out, n, std::make_index_sequence<Formula::kInputs>());
  return ThisIsa();
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
