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
#include <type_traits>
#include <utility>

#include <hwy/cache_control.h>
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

// Where the elements of a kernel's operands come from and go to: all are of one type.
template <class Elements>
struct Uniform {
  using Type = typename Elements::Type;
  static constexpr bool kIsPaired = Elements::kIsPaired;
  // f32 has little work per line: from memory, several lines of one operand after another are slower.
  static constexpr bool kLineByLine = std::is_same_v<Elements, F32Elements>;

  // How far element i is from the first: no distance for a value that is repeated (step 0).
  static HWY_INLINE size_t Offset(size_t step, size_t i) {
    return (i * sizeof(Type)) & (step != 0 ? ~size_t{0} : size_t{0});
  }
  // The vector of elements i onwards.
  static HWY_INLINE VF Load(DF d, const char* from, size_t, size_t i) {
    return Elements::Load(d, reinterpret_cast<const Type*>(from) + i);
  }
  static HWY_INLINE void Store(DF d, VF v, char* to, size_t) {
    Elements::Store(d, v, reinterpret_cast<Type*>(to));
  }
  // Of 2 vectors: the elements at even and at odd places.
  static HWY_INLINE VF LoadEven(DF d, const char* from, size_t i) {
    return Elements::LoadEven(d, reinterpret_cast<const Type*>(from) + i);
  }
  static HWY_INLINE VF LoadOdd(DF d, const char* from, size_t i) {
    return Elements::LoadOdd(d, reinterpret_cast<const Type*>(from) + i);
  }
  template <bool kStream>
  static HWY_INLINE void StoreEvenOdd(DF d, VF even, VF odd, char* to) {
    Elements::template StoreEvenOdd<kStream>(d, even, odd, reinterpret_cast<Type*>(to));
  }
  template <bool kStream>
  static HWY_INLINE void StoreOne(DF d, VF v, char* to) {
    StoreWhole<kStream>(d, v, reinterpret_cast<float*>(to));
  }
  template <bool kStream>
  static HWY_INLINE void StoreTwo(DF d, VF first, VF second, char* to, size_t) {
    Elements::template StoreTwo<kStream>(d, first, second, reinterpret_cast<Type*>(to));
  }
};

// Each operand is f32 or of the 16-bit type, as its step tells; a repeated value is f32.
template <class Half>
struct Mixed {
  static constexpr bool kIsPaired = false;
  static constexpr bool kLineByLine = false;

  static HWY_INLINE size_t Offset(size_t step, size_t i) { return i * step; }
  static HWY_INLINE VF Load(DF d, const char* from, size_t step, size_t i) {
    return step == sizeof(uint16_t) ? Half::Load(d, reinterpret_cast<const uint16_t*>(from) + i)
                                    : hn::LoadU(d, reinterpret_cast<const float*>(from) + i);
  }
  static HWY_INLINE void Store(DF d, VF v, char* to, size_t step) {
    if (step == sizeof(uint16_t)) {
      Half::Store(d, v, reinterpret_cast<uint16_t*>(to));
    } else {
      hn::StoreU(v, d, reinterpret_cast<float*>(to));
    }
  }
  template <bool kStream>
  static HWY_INLINE void StoreTwo(DF d, VF first, VF second, char* to, size_t step) {
    if (step == sizeof(uint16_t)) {
      Half::template StoreTwo<kStream>(d, first, second, reinterpret_cast<uint16_t*>(to));
    } else {
      F32Elements::StoreTwo<kStream>(d, first, second, reinterpret_cast<float*>(to));
    }
  }
};

// Where results are streamed, inputs come from memory as well. The processor's own prefetching stops at the end of
// a page, so data is asked for that far ahead; what follows a short stretch is most likely wanted next. It may lie
// past the operand's end, which does no harm.
constexpr size_t kFarthestAhead = 4096;

HWY_INLINE void Prefetch(const char* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) hwy::Prefetch(from + i);
}

// out[i] = formula(in[0][i], in[1][i], ...) for i in [0, n). Formula::operator() takes a Highway tag and one
// vector per input. Never reads or writes outside [0, n): partial vectors go through padded buffers on the
// stack and through the same code, so a result never depends on its position. `out` may be one of the inputs.
template <class Formula, class Access, size_t... kInput>
HWY_INLINE void VectorLoopOver(const Formula& formula, const void* const* in, const size_t* step, void* out,
                               size_t n, bool stream, std::index_sequence<kInput...>) {
  const DF d;
  const size_t lanes = hn::Lanes(d);
  constexpr size_t kInputs = sizeof...(kInput);
  const char* from[] = {static_cast<const char*>(in[kInput])...};
  char* to = static_cast<char*>(out);
  const size_t out_step = step[kInputs];
  const size_t ahead = HWY_MIN(kFarthestAhead, n * out_step);

  // The vector of results i elements ahead.
  const auto at = [&](size_t i)
                      HWY_ATTR { return formula(d, Access::Load(d, from[kInput], step[kInput], i)...); };
  const auto advance = [&](size_t count) HWY_ATTR {
    (..., (from[kInput] += count * step[kInput]));
    to += count * out_step;
    n -= count;
  };
  const auto some = [&](size_t count) HWY_ATTR {
    HWY_ALIGN char elements[kInputs + 1][HWY_MAX_BYTES] = {};
    (...,
     std::memcpy(elements[kInput], from[kInput], step[kInput] == 0 ? HWY_MAX_BYTES : count * step[kInput]));
    Access::Store(d, formula(d, Access::Load(d, elements[kInput], step[kInput], 0)...), elements[kInputs],
                  out_step);
    std::memcpy(to, elements[kInputs], count * out_step);
    advance(count);
  };
  // Four vectors: independent work for the processor, and whole cache lines.
  const size_t group = 4 * lanes;
  // Whole groups. One index for all operands: a pointer each to move on costs a tenth of the speed.
  const auto groups = [&](auto streams) HWY_ATTR {
    constexpr bool kStream = decltype(streams)::value;
    const char* const base[] = {from[kInput]...};
    const size_t stride[] = {step[kInput]...};
    char* const line = to;
    const size_t count = Access::kLineByLine ? n / lanes * lanes : n / group * group;
    const auto address = [&](auto input, size_t i)
                             HWY_ATTR { return base[input] + Access::Offset(stride[input], i); };
    const auto vector = [&](size_t i) HWY_ATTR {
      return formula(d, Access::Load(d, address(std::integral_constant<size_t, kInput>(), i), stride[kInput], 0)...);
    };
    for (size_t i = 0; i < count; i += Access::kLineByLine ? lanes : group) {
      char* const at_line = line + i * out_step;
      if constexpr (Access::kLineByLine) {
        Access::template StoreOne<kStream>(d, vector(i), at_line);
      } else {
        if constexpr (kStream) {
          (..., Prefetch(address(std::integral_constant<size_t, kInput>(), i) + ahead, group * stride[kInput]));
        }
        if constexpr (Access::kIsPaired) {
          for (size_t pair = 0; pair < group; pair += 2 * lanes) {
            const VF even = formula(
                d, Access::LoadEven(d, address(std::integral_constant<size_t, kInput>(), i + pair), 0)...);
            const VF odd = formula(
                d, Access::LoadOdd(d, address(std::integral_constant<size_t, kInput>(), i + pair), 0)...);
            Access::template StoreEvenOdd<kStream>(d, even, odd, at_line + pair * out_step);
          }
        } else {
          const VF first = vector(i);
          const VF second = vector(i + lanes);
          const VF third = vector(i + 2 * lanes);
          const VF fourth = vector(i + 3 * lanes);
          Access::template StoreTwo<kStream>(d, first, second, at_line, out_step);
          Access::template StoreTwo<kStream>(d, third, fourth, at_line + 2 * lanes * out_step, out_step);
        }
      }
    }
    advance(count);
  };

  if (group <= kRepeated) {
    if (kCanStream && stream && ComesToLine(to, out_step)) {
      for (size_t head = ElementsToLine(to, out_step, n); head > 0;) {
        const size_t count = HWY_MIN(lanes, head);
        some(count);
        head -= count;
      }
      groups(std::bool_constant<kCanStream>());
    } else {
      groups(std::false_type());
    }
  }
  while (n >= lanes) {
    Access::Store(d, at(0), to, out_step);
    advance(lanes);
  }
  if (n > 0) some(n);
}

template <class Formula, class Access>
HWY_INLINE void VectorLoop(const void* parameters, const void* const* in, const size_t* step, void* out,
                           size_t n, bool stream) {
  const Formula formula(*static_cast<const typename Formula::Parameters*>(parameters));
  VectorLoopOver<Formula, Access>(formula, in, step, out, n, stream,
                                  std::make_index_sequence<Formula::kInputs>());
}

// What `struct Formula : Elementwise<Formula>` is compiled to.
template <class Formula>
struct Elementwise {
  // A VectorFunction: picks the operands' types, runs, reports the instruction set.
  static Isa Values(ElementType type, const void* parameters, const void* const* in, const size_t* step,
                    void* out, size_t n, bool stream) {
    switch (type) {
      case ElementType::kBf16:
        VectorLoop<Formula, Uniform<Bf16Elements>>(parameters, in, step, out, n, stream);
        break;
      case ElementType::kF16:
        VectorLoop<Formula, Uniform<F16Elements>>(parameters, in, step, out, n, stream);
        break;
      case ElementType::kF32OrBf16:
        VectorLoop<Formula, Mixed<Bf16Elements>>(parameters, in, step, out, n, stream);
        break;
      case ElementType::kF32OrF16:
        VectorLoop<Formula, Mixed<F16Elements>>(parameters, in, step, out, n, stream);
        break;
      default:
        VectorLoop<Formula, Uniform<F32Elements>>(parameters, in, step, out, n, stream);
        break;
    }
    return ThisIsa();
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
