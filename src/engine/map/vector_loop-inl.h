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

// The inputs of a kernel that are one repeated value: none, only the first (the reduced loss's gradOutput in
// gradients), or any. Knowing them at compile time saves instructions per vector, and with fewer instructions
// the processor finds later loads sooner.
enum class Repeated { kNone, kFirst, kAny };

// Access to operands where all inputs have one type, and the output has the same or is of bytes. Operand k's
// step is its element size, or 0 for one repeated value. The output, if there is one, comes after the inputs.
template <class Elements, Repeated kRepeated = Repeated::kAny, class Results = Elements>
class Uniform {
  // Whether results fill vectors and so can be streamed. Bytes do only if the elements are bytes, too.
  static constexpr bool FillVectors() {
    if constexpr (std::is_same_v<Results, Elements>) {
      return true;
    } else {
      return Results::kFillsVectors;
    }
  }

 public:
  using Type = typename Elements::Type;
  using D = typename Elements::D;
  using V = typename Elements::V;
  static constexpr bool kIsPaired = Elements::kIsPaired && std::is_same_v<Results, Elements>;
  static constexpr bool kHas16BitFloats = sizeof(Type) == sizeof(uint16_t);
  static constexpr size_t kWidest = sizeof(Type);
  // Processes one cache line at a time, since there is little work per line. From memory, several lines of
  // one operand after another are slower.
  static constexpr bool kLineByLine = std::is_same_v<V, hn::Vec<hn::ScalableTag<Type>>>;
  static constexpr bool kStreams = FillVectors();
  static constexpr bool kFirstIsRepeated = kRepeated == Repeated::kFirst;
  static constexpr size_t kReadBeyond = 0;

  HWY_INLINE Uniform(KernelType, const size_t* step, size_t operands) {
    for (size_t k = 0; k < operands; ++k) walks_[k] = step[k] != 0 ? ~size_t{0} : size_t{0};
  }

  // The distance in bytes of operand k's element i from its first.
  HWY_INLINE size_t Offset(size_t k, size_t i) const {
    const size_t offset = i * sizeof(Type);
    if constexpr (kRepeated == Repeated::kAny) return offset & walks_[k];
    return kFirstIsRepeated && k == 0 ? 0 : offset;
  }
  // The size of the output's elements.
  HWY_INLINE size_t OutSize() const { return sizeof(typename Results::Type); }
  // The size of operand k's elements.
  HWY_INLINE size_t Size(size_t) const { return sizeof(Type); }

  // Loads a vector of operand k's elements from the given address on.
  HWY_INLINE V Load(D d, size_t, const char* from) const {
    return Elements::Load(d, reinterpret_cast<const Type*>(from));
  }
  // Load the even and the odd elements of two vectors.
  HWY_INLINE VF LoadEven(DF d, const char* from) const {
    return Elements::LoadEven(d, reinterpret_cast<const Type*>(from));
  }
  HWY_INLINE VF LoadOdd(DF d, const char* from) const {
    return Elements::LoadOdd(d, reinterpret_cast<const Type*>(from));
  }

  // Stores results, which are masks if they are written as bytes.
  template <class R>
  HWY_INLINE void Store(D d, R r, char* to) const {
    Results::Store(d, r, reinterpret_cast<typename Results::Type*>(to));
  }
  HWY_INLINE void StoreEvenOdd(DF d, VF even, VF odd, char* to, bool stream) const {
    Elements::StoreEvenOdd(d, even, odd, reinterpret_cast<Type*>(to), stream);
  }
  template <class R>
  HWY_INLINE void StoreWholeLine(D d, R r, char* to, bool stream) const {
    if constexpr (std::is_same_v<Results, Elements>) {
      StoreWhole(d, r, reinterpret_cast<Type*>(to), stream);
    } else if constexpr (kStreams) {
      Results::StoreWholeLine(d, r, reinterpret_cast<typename Results::Type*>(to), stream);
    } else {
      Store(d, r, to);
    }
  }
  template <class R>
  HWY_INLINE void StoreTwo(D d, R first, R second, char* to, bool stream) const {
    Results::StoreTwo(d, first, second, reinterpret_cast<typename Results::Type*>(to), stream);
  }

 private:
  size_t walks_[kMaxInputs + 1];  // all bits set, or none for a repeated value
};

// Access to operands that each have a type of their own. A repeated value is f32.
class Mixed {
 public:
  using D = DF;
  using V = VF;
  static constexpr bool kStreams = true;
  static constexpr bool kIsPaired = false;
  static constexpr bool kHas16BitFloats = true;
  static constexpr size_t kWidest = sizeof(float);
  static constexpr bool kLineByLine = false;
  static constexpr bool kFirstIsRepeated = false;
  static constexpr size_t kReadBeyond = 0;

  HWY_INLINE Mixed(KernelType type, const size_t* step, size_t operands) : output_(operands - 1) {
    for (size_t k = 0; k < operands; ++k) {
      step_[k] = step[k];
      type_[k] = step[k] != sizeof(uint16_t) ? ElementType::kF32
                 : (type.f16 >> k & 1) != 0  ? ElementType::kF16
                                             : ElementType::kBf16;
    }
  }

  HWY_INLINE size_t Offset(size_t k, size_t i) const { return i * step_[k]; }
  HWY_INLINE size_t OutSize() const { return step_[output_]; }
  HWY_INLINE size_t Size(size_t k) const { return step_[k] != 0 ? step_[k] : sizeof(float); }

  HWY_INLINE VF Load(DF d, size_t k, const char* from) const {
    if (type_[k] == ElementType::kF32) return hn::LoadU(d, reinterpret_cast<const float*>(from));
    const auto* const halves = reinterpret_cast<const uint16_t*>(from);
    return type_[k] == ElementType::kBf16 ? Bf16Elements::Load(d, halves) : F16Elements::Load(d, halves);
  }

  HWY_INLINE void Store(DF d, VF v, char* to) const {
    WithOutput([&](auto elements, auto* out) HWY_ATTR { elements.Store(d, v, out); }, to);
  }
  HWY_INLINE void StoreTwo(DF d, VF first, VF second, char* to, bool stream) const {
    WithOutput([&](auto elements, auto* out) HWY_ATTR { elements.StoreTwo(d, first, second, out, stream); },
               to);
  }

 private:
  template <class Use>
  HWY_INLINE void WithOutput(const Use& use, char* to) const {
    if (type_[output_] == ElementType::kF32) {
      use(F32Elements(), reinterpret_cast<float*>(to));
    } else if (type_[output_] == ElementType::kBf16) {
      use(Bf16Elements(), reinterpret_cast<uint16_t*>(to));
    } else {
      use(F16Elements(), reinterpret_cast<uint16_t*>(to));
    }
  }

  size_t step_[kMaxInputs + 1];
  ElementType type_[kMaxInputs + 1];
  size_t output_;
};

// Access to every second element. The gaps are read but not used, and not written. Only targets with masked
// stores that are fast and touch nothing else have it.
#if HWY_TARGET == HWY_AVX3
constexpr bool kTakesEverySecond = true;

template <class Elements>
class EverySecond {
 public:
  using Type = typename Elements::Type;
  using D = DF;
  using V = VF;
  static constexpr bool kStreams = true;
  static constexpr bool kIsPaired = false;
  static constexpr bool kLineByLine = true;
  static constexpr bool kFirstIsRepeated = false;
  // A vector that ends at the last element would read the element behind it, too.
  static constexpr size_t kReadBeyond = 1;

  HWY_INLINE EverySecond(KernelType, const size_t* step, size_t operands) {
    for (size_t k = 0; k < operands; ++k) walks_[k] = step[k] != 0 ? ~size_t{0} : size_t{0};
  }

  HWY_INLINE size_t Offset(size_t k, size_t i) const { return (2 * i * sizeof(Type)) & walks_[k]; }
  HWY_INLINE size_t OutSize() const { return 2 * sizeof(Type); }

  HWY_INLINE VF Load(DF d, size_t, const char* from) const {
    if constexpr (std::is_same_v<Elements, F32Elements>) {
      const auto* const elements = reinterpret_cast<const float*>(from);
      return hn::ConcatEven(d, hn::LoadU(d, elements + hn::Lanes(d)), hn::LoadU(d, elements));
    } else {
      const VU pairs = hn::LoadU(DU(), reinterpret_cast<const uint32_t*>(from));
      if constexpr (std::is_same_v<Elements, Bf16Elements>) {
        return hn::BitCast(d, hn::ShiftLeft<16>(pairs));
      } else {
        return Elements::Widen(hn::TruncateTo(DH(), pairs));
      }
    }
  }

  HWY_INLINE void Store(DF d, VF v, char* to) const {
    if constexpr (std::is_same_v<Elements, F32Elements>) {
      const hn::Half<DF> half;
      StoreApart(hn::BitCast(hn::Half<DU>(), hn::LowerHalf(half, v)), reinterpret_cast<uint32_t*>(to));
      StoreApart(hn::BitCast(hn::Half<DU>(), hn::UpperHalf(half, v)),
                 reinterpret_cast<uint32_t*>(to) + hn::Lanes(d));
    } else {
      StoreApart(Elements::Round(v), reinterpret_cast<uint16_t*>(to));
    }
  }
  HWY_INLINE void StoreWholeLine(DF d, VF v, char* to, bool) const { Store(d, v, to); }

 private:
  // Stores each element in the lower half of a lane twice as wide.
  template <class V, class T>
  static HWY_INLINE void StoreApart(V elements, T* to) {
    const hn::ScalableTag<T> d;
    const hn::RepartitionToWide<decltype(d)> wide;
    using Wide = hn::TFromD<decltype(wide)>;
    const auto lower = hn::BitCast(d, hn::Set(wide, static_cast<Wide>(static_cast<T>(~T{0}))));
    hn::BlendedStore(hn::BitCast(d, hn::PromoteTo(wide, elements)), hn::Ne(lower, hn::Zero(d)), d, to);
  }

  size_t walks_[kMaxInputs + 1];
};
#else
constexpr bool kTakesEverySecond = false;
#endif

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
    // Copies up to the last element and nothing behind it.
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
         (Formula::kTakes16BitFloats ? kHalves : 0);
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
  const auto run = [&]<class T>() HWY_ATTR {
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

  // Whether the formula has a fast path: loops over 16-bit, mixed and every second elements. They take ten
  // times as long to compile as the one loop over float32 that every formula has. Without them such operands
  // pass through tiles.
  static constexpr bool kHasFastPath = false;

  // Whether it has only those of them that are over 16-bit elements.
  static constexpr bool kTakes16BitFloats = false;

  // Whether the formula's results are masks, written as bytes of 0 and 1.
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
    if constexpr ((kTypes & kHalves) != 0) {
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
