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
#include "engine/formula.h"
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

constexpr Isa ThisIsa() {
  if (HWY_TARGET == HWY_AVX3) return Isa::kAvx512;
  if (HWY_TARGET == HWY_AVX2) return Isa::kAvx2;
  if (HWY_TARGET == HWY_NEON || (HWY_NEON_WITHOUT_AES != 0 && HWY_TARGET == HWY_NEON_WITHOUT_AES))
    return Isa::kNeon;
  if (HWY_TARGET == HWY_SVE) return Isa::kSve;
  return Isa::kPortable;
}

// out[i] = formula(in[0][i], in[1][i], ...) for i in [0, n). Formula::operator() takes a Highway tag and one
// vector per input; inputs and output are of one element type. A step is 1, or 0 for one value that is
// repeated over at least a vector. Never reads or writes outside [0, n): partial vectors go through padded
// buffers on the stack and through the same code, so a result never depends on its position. `out` may be one
// of the inputs.
template <class Formula, class Elements, bool kAllDense, size_t... kInput>
HWY_INLINE void VectorLoopOver(const Formula& formula, const void* const* in, const size_t* step, void* out,
                               size_t n, bool stream, std::index_sequence<kInput...>) {
  using Type = typename Elements::Type;
  const DF d;
  const size_t lanes = hn::Lanes(d);
  const Type* const from[] = {static_cast<const Type*>(in[kInput])...};
  const size_t steps[] = {(kAllDense ? 1 : step[kInput])...};
  auto* const to = static_cast<Type*>(out);

  const auto at = [&](size_t i)
                      HWY_ATTR { return formula(d, Elements::Load(d, from[kInput] + i * steps[kInput])...); };
  const auto some = [&](size_t i, size_t count) HWY_ATTR {
    HWY_ALIGN Type elements[sizeof...(kInput) + 1][HWY_MAX_BYTES / sizeof(float)] = {};
    (..., std::memcpy(elements[kInput], from[kInput] + i * steps[kInput], count * sizeof(Type)));
    Type* const result = elements[sizeof...(kInput)];
    Elements::Store(d, formula(d, Elements::Load(d, elements[kInput])...), result);
    std::memcpy(to + i, result, count * sizeof(Type));
  };

  size_t i = 0;
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if (stream && ComesToLine(to)) {
    constexpr size_t kLine = 64 / sizeof(Type);
    for (const size_t head = ElementsToLine(to, n); i < head;) {
      const size_t count = HWY_MIN(lanes, head - i);
      some(i, count);
      i += count;
    }
    for (; i + kLine <= n; i += kLine) {
      StreamLine<Elements>(d, to + i, [&](size_t j) HWY_ATTR { return at(i + j); });
    }
  }
#else
  (void)stream;
#endif
  for (; i + lanes <= n; i += lanes) Elements::Store(d, at(i), to + i);
  if (i < n) some(i, n - i);
}

template <class Formula, class Elements>
HWY_INLINE void VectorLoop(const void* parameters, const void* const* in, const size_t* step, void* out,
                           size_t n, bool stream) {
  const Formula formula(*static_cast<const typename Formula::Parameters*>(parameters));
  constexpr auto kInputs = std::make_index_sequence<Formula::kInputs>();
  bool all_dense = true;
  for (int k = 0; k < Formula::kInputs; ++k) all_dense = all_dense && step[k] == 1;
  if (all_dense) {
    VectorLoopOver<Formula, Elements, true>(formula, in, step, out, n, stream, kInputs);
  } else {
    VectorLoopOver<Formula, Elements, false>(formula, in, step, out, n, stream, kInputs);
  }
}

// The entry of a formula's dispatch table: picks the element type, runs, reports the instruction set.
template <class Formula>
HWY_INLINE Isa RunVectorLoop(ElementType type, const void* parameters, const void* const* in,
                             const size_t* step, void* out, size_t n, bool stream) {
  switch (type) {
    case ElementType::kBf16:
      VectorLoop<Formula, Bf16Elements>(parameters, in, step, out, n, stream);
      break;
    case ElementType::kF16:
      VectorLoop<Formula, F16Elements>(parameters, in, step, out, n, stream);
      break;
    default:
      VectorLoop<Formula, F32Elements>(parameters, in, step, out, n, stream);
      break;
  }
  return ThisIsa();
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
