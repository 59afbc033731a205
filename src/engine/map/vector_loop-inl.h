// The vector loop that applies a formula to full vectors and to tails. Compiled once per instruction set and
// formula.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_MAP_VECTOR_LOOP_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_MAP_VECTOR_LOOP_INL_H_
#undef PORTACL_ENGINE_MAP_VECTOR_LOOP_INL_H_
#else
#define PORTACL_ENGINE_MAP_VECTOR_LOOP_INL_H_
#endif

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <utility>

#include <hwy/cache_control.h>
#include <hwy/highway.h>
#include "engine/half_precision-inl.h"
#include "engine/map/elements-inl.h"
#include "engine/map/formula.h"
#include "engine/map/vector_access-inl.h"
#include "engine/unrolled-inl.h"

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

// The prefetch distance. Where results are streamed, inputs come from memory as well. The processor's own
// prefetching stops at the end of a page, so that data is requested this far ahead. After a short row the
// next one is most likely wanted. An address past the operand's end does no harm.
constexpr size_t kFarthestAhead = 4096;

HWY_INLINE void Prefetch(const char* from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 64) hwy::Prefetch(from + i);
}

// Fewer elements than a vector has. They pass through padded buffers on the stack, and nothing beyond them is
// touched.
template <class Formula, class Access, size_t... kInput>
class PartOfVector {
 public:
  HWY_INLINE PartOfVector(const Formula& formula, const Access& access,
                          const char* const (&from)[sizeof...(kInput)], char* to)
      : formula_(formula), access_(access), from_{from[kInput]...}, to_(to) {}

  HWY_NOINLINE void Run(size_t count) const {
    const typename Access::D d;
    constexpr size_t kBytes = (1 + Access::kReadBeyond) * HWY_MAX_BYTES;
    HWY_ALIGN char elements[kInputs + 1][kBytes] = {};
    // Copies up to the last element and nothing after it.
    const auto size = [&](size_t k) HWY_ATTR {
      return access_.Offset(k, 1) == 0
                 ? kBytes
                 : access_.Offset(k, count) - access_.Offset(k, Access::kReadBeyond) / 2;
    };
    (..., std::memcpy(elements[kInput], from_[kInput], size(kInput)));
    access_.Store(d, formula_(d, access_.Load(d, kInput, elements[kInput])...), elements[kInputs]);
    const size_t out_size = access_.OutSize();
    if constexpr (Access::kReadBeyond == 0) {
      std::memcpy(to_, elements[kInputs], count * out_size);
    } else {
      for (size_t j = 0; j < count; ++j)
        std::memcpy(to_ + j * out_size, elements[kInputs] + j * out_size, out_size / 2);
    }
  }

 private:
  static constexpr size_t kInputs = sizeof...(kInput);

  Formula formula_;
  Access access_;
  const char* from_[kInputs];
  char* to_;
};

// Computes out[i] = formula(in[0][i], in[1][i], ...) for i in [0, n). Formula::operator() takes a Highway tag
// and one vector per input. Never reads or writes outside [0, n). Partial vectors go through the same code,
// so that a result never depends on its position. `out` may be one of the inputs.
//
// Every call of the formula inlines another copy of it, and copies cost compile time. Therefore streaming is
// tested at run time.
template <class Formula, class Access, size_t... kInput>
class RowLoop {
  using D = typename Access::D;
  using V = typename Access::V;

 public:
  HWY_INLINE RowLoop(const Formula& formula, const Access& access, const void* const* in, void* out)
      : formula_(formula),
        access_(access),
        // One index serves all operands: advancing a pointer for each costs a tenth of the speed.
        from_{static_cast<const char*>(in[kInput])...},
        to_(static_cast<char*>(out)) {}

  HWY_INLINE void Run(size_t n, bool stream) const {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const size_t out_size = access_.OutSize();
    const V first = Access::kFirstIsRepeated ? access_.Load(d, 0, from_[0]) : hn::Zero(d);
    // Elements that may be loaded as full vectors.
    const size_t whole = n - HWY_MIN(n, Access::kReadBeyond);
    size_t i = 0;
    if (kCanStream && stream) {
      stream = Access::kStreams && ComesToLine(to_, out_size);
      for (const size_t head = stream ? ElementsToLine(to_, out_size, n) : 0; i < head;) {
        const size_t count = HWY_MIN(lanes, head - i);
        Some(i, count);
        i += count;
      }
    }
    if constexpr (Access::kLineByLine && !kUnrolled) {
      for (; i + lanes <= whole; i += lanes) {
        access_.StoreWholeLine(d, Vector(i, first), to_ + i * out_size, stream);
      }
    } else {
      // Four vectors: independent work for the processor, and whole cache lines.
      const size_t group = 4 * lanes;
      if (group <= kRepeated) {
        const size_t ahead = HWY_MIN(kFarthestAhead, n * out_size);
        for (; i + group <= whole; i += group) {
          if (kCanStream && stream) {
            (..., Prefetch(from_[kInput] + access_.Offset(kInput, i) + ahead, access_.Offset(kInput, group)));
          }
          Group(i, first, to_ + i * out_size, stream);
        }
      }
      for (; i + lanes <= whole; i += lanes) access_.Store(d, Vector(i, first), to_ + i * out_size);
    }
    if (i < n) Some(i, n - i);
  }

 private:
  static constexpr size_t kInputs = sizeof...(kInput);
  // With every second element the stores dominate, and unrolling gains nothing.
  static constexpr bool kUnrolled = kHasUnrolled && Formula::kFunctionOf >= 0 && Access::kReadBeyond == 0 &&
                                    std::is_same_v<typename Access::V, VF>;

  // Returns input k's vector from element i on. `first` is the value of a repeated first input.
  template <size_t k>
  HWY_INLINE V Input(size_t i, V first) const {
    if constexpr (Access::kFirstIsRepeated && k == 0) return first;
    return access_.Load(D(), k, from_[k] + access_.Offset(k, i));
  }

  // Returns vector number kVector of the group from element i on.
  template <size_t k, size_t kVector>
  HWY_INLINE V InputOfGroup(size_t i, V first) const {
    const size_t lanes = hn::Lanes(D());
    if constexpr (Access::kFirstIsRepeated && k == 0) {
      return first;
    } else if constexpr (Access::kIsPaired) {
      const char* const pair = from_[k] + access_.Offset(k, i + kVector / 2 * 2 * lanes);
      if constexpr (kVector % 2 == 0) {
        return access_.LoadEven(D(), pair);
      } else {
        return access_.LoadOdd(D(), pair);
      }
    } else {
      return Input<k>(i + kVector * lanes, first);
    }
  }

  // The results of the vectors from element i on.
  HWY_INLINE auto Vector(size_t i, V first) const { return formula_(D(), Input<kInput>(i, first)...); }

  HWY_INLINE void Group(size_t i, V first, char* line, bool stream) const {
    const D d;
    const size_t lanes = hn::Lanes(d);
    const size_t two = 2 * lanes * access_.OutSize();
#if !HWY_HAVE_SCALABLE
    if constexpr (kUnrolled) {
      constexpr auto kOf = static_cast<size_t>(Formula::kFunctionOf);
      const Unrolled<VF> value =
          formula_.Function(d, Unrolled<VF>(InputOfGroup<kOf, 0>(i, first), InputOfGroup<kOf, 1>(i, first),
                                            InputOfGroup<kOf, 2>(i, first), InputOfGroup<kOf, 3>(i, first)));
      const VF v0 = formula_.WithFunction(d, InputOfGroup<kInput, 0>(i, first)..., value.part[0]);
      const VF v1 = formula_.WithFunction(d, InputOfGroup<kInput, 1>(i, first)..., value.part[1]);
      StorePair(v0, v1, line, stream);
      const VF v2 = formula_.WithFunction(d, InputOfGroup<kInput, 2>(i, first)..., value.part[2]);
      const VF v3 = formula_.WithFunction(d, InputOfGroup<kInput, 3>(i, first)..., value.part[3]);
      StorePair(v2, v3, line + two, stream);
      return;
    }
#endif
    if constexpr (std::is_same_v<Access, Mixed>) {
      // Computes all vectors together, so that each operand's type is tested once.
      const VF v0 = formula_(d, InputOfGroup<kInput, 0>(i, first)...);
      const VF v1 = formula_(d, InputOfGroup<kInput, 1>(i, first)...);
      const VF v2 = formula_(d, InputOfGroup<kInput, 2>(i, first)...);
      const VF v3 = formula_(d, InputOfGroup<kInput, 3>(i, first)...);
      StorePair(v0, v1, line, stream);
      StorePair(v2, v3, line + two, stream);
      return;
    }
    // A loop of pairs lets the compiler move a formula's branches out of it; larger groups are too much for
    // it.
    for (size_t pair = 0; pair < 2; ++pair) {
      const size_t at = i + pair * 2 * lanes;
      const auto v0 = formula_(d, InputOfGroup<kInput, 0>(at, first)...);
      const auto v1 = formula_(d, InputOfGroup<kInput, 1>(at, first)...);
      StorePair(v0, v1, line + pair * two, stream);
    }
  }

  template <class R>
  HWY_INLINE void StorePair(R first, R second, char* to, bool stream) const {
    if constexpr (Access::kIsPaired) {
      access_.StoreEvenOdd(D(), first, second, to, stream);
    } else {
      access_.StoreTwo(D(), first, second, to, stream);
    }
  }

  // Computes elements [i, i + count), fewer than a vector has. It works on a copy of the access: once a
  // function knows the address of an object, the compiler reloads that object after every store.
  HWY_INLINE void Some(size_t i, size_t count) const {
    const size_t out_size = access_.OutSize();
    const PartOfVector<Formula, Access, kInput...> part(
        formula_, access_, {from_[kInput] + access_.Offset(kInput, i)...}, to_ + i * out_size);
    part.Run(count);
  }

  const Formula& formula_;
  const Access& access_;
  const char* from_[kInputs];
  char* to_;
};

template <class Formula, class Access, size_t... kInput>
HWY_INLINE void RowsOver(const Formula& formula, const Access& access, const VectorWork& work,
                         std::index_sequence<kInput...>) {
  const void* in[] = {work.in[kInput]...};
  void* out = work.out;
  for (size_t left = work.rows;;) {
    RowLoop<Formula, Access, kInput...>(formula, access, in, out).Run(work.n, work.stream);
    if (--left == 0) return;
    (..., (in[kInput] = static_cast<const char*>(in[kInput]) + work.row_stride[kInput]));
    out = static_cast<char*>(out) + work.row_stride[sizeof...(kInput)];
  }
}

// Each type of operands has a separate function, because large functions take long to compile.
template <class Formula, class Access>
HWY_NOINLINE void VectorLoop(KernelType type, const void* parameters, const VectorWork& work) {
  const Formula formula(*static_cast<const typename Formula::Parameters*>(parameters));
  const Access access(type, work.step, Formula::kInputs + 1);
  RowsOver(formula, access, work, std::make_index_sequence<Formula::kInputs>());
}

// Chooses the loop for these operands: for every second element, for one repeated gradOutput of gradients,
// for inputs without repetition, or for every other case.
template <class Formula, class Elements>
HWY_INLINE void UniformLoop(KernelType type, const void* parameters, const VectorWork& work) {
#if HWY_TARGET == HWY_AVX3
  if (work.step[Formula::kInputs] == 2 * sizeof(typename Elements::Type))
    return VectorLoop<Formula, EverySecond<Elements>>(type, parameters, work);
#endif
  size_t repeated = 0;
  for (size_t k = 0; k < Formula::kInputs; ++k) repeated |= size_t{work.step[k] == 0} << k;
  if (repeated == 0) return VectorLoop<Formula, Uniform<Elements, Repeated::kNone>>(type, parameters, work);
  // Float32 needs no conversion, so that this loop is no faster for it.
  if constexpr (Formula::kInputs == 3 && !std::is_same_v<Elements, F32Elements>) {
    if (repeated == 1)
      return VectorLoop<Formula, Uniform<Elements, Repeated::kFirst>>(type, parameters, work);
  }
  VectorLoop<Formula, Uniform<Elements>>(type, parameters, work);
}

// The types for which a formula has loops.
template <class Formula>
constexpr ElementTypes TakesOf() {
  return ElementTypesOf(typename Formula::Lanes()) | (Formula::kHasFastPath ? kFastPathTypes : 0) |
         (Formula::kTakes16BitFloats ? k16BitFloats : 0);
}

// Complex numbers. Calls Formula::OfParts(tag, the inputs' real parts, their imaginary parts, real&,
// imaginary&), or without the last two if it returns a mask.
template <class Formula, class Elements, size_t... kInput>
class ComplexLoop {
  using Real = typename Elements::Type;
  using D = typename Elements::D;
  using V = typename Elements::V;
  static constexpr size_t kInputs = sizeof...(kInput);
  static constexpr size_t kOutSize = Formula::kWritesBool ? 1 : 2 * sizeof(Real);

 public:
  explicit ComplexLoop(const void* parameters)
      : formula_(*static_cast<const typename Formula::Parameters*>(parameters)) {}

  HWY_INLINE void Run(const VectorWork& work) const {
    for (size_t row = 0; row < work.rows; ++row) {
      const Real* from[] = {Row(work, work.in[kInput], kInput, row)...};
      char* const to = reinterpret_cast<char*>(Row(work, work.out, kInputs, row));
      const size_t lanes = hn::Lanes(D());
      size_t i = 0;
      for (; i + lanes <= work.n; i += lanes) {
        Store(to + i * kOutSize, (from[kInput] + (work.step[kInput] != 0 ? 2 * i : 0))...);
      }
      if (i < work.n) Some(work, from, to, i, work.n - i);
    }
  }

 private:
  static HWY_INLINE Real* Row(const VectorWork& work, const void* first, size_t operand, size_t row) {
    const int64_t skip = row == 0 ? 0 : static_cast<int64_t>(row) * work.row_stride[operand];
    return reinterpret_cast<Real*>(const_cast<char*>(static_cast<const char*>(first)) + skip);
  }
  static HWY_INLINE V RealPart(const Real* from) {
    V real;
    V imaginary;
    hn::LoadInterleaved2(D(), from, real, imaginary);
    return real;
  }
  static HWY_INLINE V ImaginaryPart(const Real* from) {
    V real;
    V imaginary;
    hn::LoadInterleaved2(D(), from, real, imaginary);
    return imaginary;
  }

  template <class... From>
  HWY_INLINE void Store(char* to, From... from) const {
    const D d;
    if constexpr (Formula::kWritesBool) {
      MaskElements<Elements>::Store(d, formula_.OfParts(d, RealPart(from)..., ImaginaryPart(from)...),
                                    reinterpret_cast<uint8_t*>(to));
    } else {
      V real;
      V imaginary;
      formula_.OfParts(d, RealPart(from)..., ImaginaryPart(from)..., real, imaginary);
      hn::StoreInterleaved2(real, imaginary, d, reinterpret_cast<Real*>(to));
    }
  }

  HWY_NOINLINE void Some(const VectorWork& work, const Real* const* from, char* to, size_t i,
                         size_t count) const {
    HWY_ALIGN Real elements[kInputs + 1][size_t{2} * HWY_MAX_BYTES / sizeof(Real)] = {};
    (..., std::memcpy(elements[kInput], from[kInput] + (work.step[kInput] != 0 ? 2 * i : 0),
                      work.step[kInput] != 0 ? count * 2 * sizeof(Real) : sizeof elements[kInput]));
    char* const results = reinterpret_cast<char*>(elements[kInputs]);
    Store(results, elements[kInput]...);
    std::memcpy(to + i * kOutSize, results, count * kOutSize);
  }

  Formula formula_;
};

template <class Formula, class Elements, size_t... kInput>
HWY_NOINLINE void RunComplexLoop(const void* parameters, const VectorWork& work,
                                 std::index_sequence<kInput...>) {
  ComplexLoop<Formula, Elements, kInput...>(parameters).Run(work);
}

// Runs the loop over elements of the computed type; each type has one.
template <class Formula, class... Lane>
HWY_INLINE void PlainLoop(LaneTypes<Lane...>, KernelType type, const void* parameters,
                          const VectorWork& work) {
  [[maybe_unused]] const auto run = [&]<class T>() HWY_ATTR {
    using Elements = typename LaneOf<T>::Elements;
    using Results = std::conditional_t<Formula::kWritesBool, MaskElements<Elements>, Elements>;
    if (type.elements != LaneOf<T>::kType) return;
    if constexpr (kIsComplex<T>) {
      RunComplexLoop<Formula, Elements>(parameters, work, std::make_index_sequence<Formula::kInputs>());
    } else {
      VectorLoop<Formula, Uniform<Elements, Repeated::kAny, Results>>(type, parameters, work);
    }
  };
  (..., run.template operator()<Lane>());
}

// Runs the loop over 16-bit elements.
template <class Formula, class Elements>
HWY_INLINE void LoopOf16BitFloats(KernelType type, const void* parameters, const VectorWork& work) {
  if constexpr (Formula::kHasFastPath) {
    UniformLoop<Formula, Elements>(type, parameters, work);
  } else {
    using Results = std::conditional_t<Formula::kWritesBool, MaskElements<Elements>, Elements>;
    VectorLoop<Formula, Uniform<Elements, Repeated::kAny, Results>>(type, parameters, work);
  }
}

// The base of formulas: `struct Formula : Elementwise<Formula>` gets its kernels from here.
template <class Formula>
struct Elementwise {
  // The types of lanes that the formula is computed in.
  using Lanes = LaneTypes<float>;

  // Tells whether the formula has a fast path: loops over 16-bit, mixed and every second elements. They take ten
  // times as long to compile as the one loop over float32 that every formula has. Without them such operands
  // pass through tiles.
  static constexpr bool kHasFastPath = false;

  // Tells whether the formula has, of the loops of a fast path, only those over 16-bit elements.
  static constexpr bool kTakes16BitFloats = false;

  // Tells whether the formula's results are masks, written as bytes of 0 and 1.
  static constexpr bool kWritesBool = false;

  // The input to which the formula applies a costly function over float32, or -1. Such a formula has
  // Function(tag, x), the function of a vector or of Unrolled, and WithFunction(tag, inputs..., value), the
  // rest.
  static constexpr int kFunctionOf = -1;

  // A VectorFunction: selects the operands' types, runs the loop, and returns the instruction set.
  static Isa Values(KernelType type, const void* parameters, const VectorWork& work) {
    constexpr ElementTypes kTypes = KernelTypes(ThisIsa(), TakesOf<Formula>());
    if constexpr ((kTypes & SetOf(ElementType::kMixed)) != 0) {
      if (type.elements == ElementType::kMixed) {
        VectorLoop<Formula, Mixed>(type, parameters, work);
        return ThisIsa();
      }
    }
    if constexpr ((kTypes & k16BitFloats) != 0) {
      if (type.elements == ElementType::kBf16) {
        LoopOf16BitFloats<Formula, Bf16Elements>(type, parameters, work);
        return ThisIsa();
      }
      if (type.elements == ElementType::kF16) {
        LoopOf16BitFloats<Formula, F16Elements>(type, parameters, work);
        return ThisIsa();
      }
    }
    if constexpr ((kTypes & SetOf(ElementType::kMixed)) != 0) {
      if (type.elements == ElementType::kF32) {
        UniformLoop<Formula, F32Elements>(type, parameters, work);
        return ThisIsa();
      }
      PlainLoop<Formula>(WithoutFloat(typename Formula::Lanes()), type, parameters, work);
    } else {
      PlainLoop<Formula>(typename Formula::Lanes(), type, parameters, work);
    }
    return ThisIsa();
  }
};

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
