// Access of a vector loop to its operands: of one type, of several, or every second element. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_MAP_VECTOR_ACCESS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_MAP_VECTOR_ACCESS_INL_H_
#undef PORTACL_ENGINE_MAP_VECTOR_ACCESS_INL_H_
#else
#define PORTACL_ENGINE_MAP_VECTOR_ACCESS_INL_H_
#endif

#include <cstddef>
#include <cstring>
#include <type_traits>

#include <hwy/highway.h>
#include "engine/half_precision-inl.h"
#include "engine/map/elements-inl.h"
#include "engine/map/formula.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// The inputs of a kernel that are one repeated value: none, only the first (the reduced loss's gradOutput in
// gradients), or any. Knowing them at compile time saves instructions per vector, and with fewer instructions
// the processor finds later loads sooner.
enum class Repeated { kNone, kFirst, kAny };

// Access to operands where all inputs have one type, and the output has the same or is of bytes. Operand k's
// step is its element size, or 0 for one repeated value. The output, if there is one, comes after the inputs.
template <class Elements, Repeated kRepeated = Repeated::kAny, class Results = Elements>
class Uniform {
  // Tells whether results fill vectors and so can be streamed. Bytes do only if the elements are bytes, too.
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
  // A vector that ends at the last element would read the element after it, too.
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

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
