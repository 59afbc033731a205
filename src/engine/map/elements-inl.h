// Loads elements of each type as vectors and stores them without converting; names the lane types of
// formulas. Compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_MAP_ELEMENTS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_MAP_ELEMENTS_INL_H_
#undef PORTACL_ENGINE_MAP_ELEMENTS_INL_H_
#else
#define PORTACL_ENGINE_MAP_ELEMENTS_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>
#include "engine/half_precision-inl.h"
#include "engine/map/formula.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// Elements that are themselves the lanes.
template <class T>
struct LaneElements {
  using Type = T;
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr bool kIsPaired = false;
  static HWY_INLINE V Load(D d, const Type* from) { return hn::LoadU(d, from); }
  static HWY_INLINE void Store(D d, V v, Type* to) { hn::StoreU(v, d, to); }
};

// Loads bytes as 0 or 1, whatever the memory of a bool tensor holds.
struct BoolElements : LaneElements<uint8_t> {
  static HWY_INLINE V Load(D d, const Type* from) { return hn::Min(hn::LoadU(d, from), hn::Set(d, Type{1})); }
};

// Stores masks over the lanes of `Inputs` as bytes of 0 and 1.
template <class Inputs>
struct MaskElements {
  using Type = uint8_t;
  using D = typename Inputs::D;
  using M = hn::Mask<D>;
  using U = hwy::MakeUnsigned<hn::TFromD<D>>;
  static constexpr bool kFillsVectors = sizeof(U) == 1;
  static HWY_INLINE void Store([[maybe_unused]] D d, M mask, Type* to) {
    const hn::Rebind<U, D> du;
    const auto ones = hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, U{1}));
    const hn::Rebind<uint8_t, D> bytes;
    if constexpr (kFillsVectors) {
      hn::StoreU(ones, du, to);
    } else if constexpr (sizeof(U) == 8) {
      hn::StoreU(hn::TruncateTo(bytes, ones), bytes, to);
    } else {
      // The saturating demotion from signed lanes preserves 0 and 1.
      const hn::Rebind<hwy::MakeSigned<U>, D> di;
      hn::StoreU(hn::DemoteTo(bytes, hn::BitCast(di, ones)), bytes, to);
    }
  }
  static HWY_INLINE void StoreWholeLine(D, M mask, Type* to, bool stream) {
    const hn::Rebind<U, D> du;
    StoreWhole(du, hn::IfThenElseZero(hn::RebindMask(du, mask), hn::Set(du, U{1})), to, stream);
  }
  static HWY_INLINE void StoreTwo(D d, M first, M second, Type* to, bool) {
    Store(d, first, to);
    Store(d, second, to + hn::Lanes(d));
  }
};

// The lane types that a formula names: numbers, and these.
struct Bool;  // bytes of 0 and 1
template <class Real>
struct Complex;  // pairs of real and imaginary part

template <class... Lane>
struct LaneTypes {};

template <class Lane>
struct LaneOf;
#define PORTACL_LANE(lane, elements, type)                  \
  template <>                                               \
  struct LaneOf<lane> {                                     \
    using Elements = elements;                              \
    static constexpr ElementType kType = ElementType::type; \
  };
PORTACL_LANE(float, F32Elements, kF32)
PORTACL_LANE(double, LaneElements<double>, kF64)
PORTACL_LANE(int8_t, LaneElements<int8_t>, kI8)
PORTACL_LANE(uint8_t, LaneElements<uint8_t>, kU8)
PORTACL_LANE(int16_t, LaneElements<int16_t>, kI16)
PORTACL_LANE(uint16_t, LaneElements<uint16_t>, kU16)
PORTACL_LANE(int32_t, LaneElements<int32_t>, kI32)
PORTACL_LANE(uint32_t, LaneElements<uint32_t>, kU32)
PORTACL_LANE(int64_t, LaneElements<int64_t>, kI64)
PORTACL_LANE(uint64_t, LaneElements<uint64_t>, kU64)
PORTACL_LANE(Bool, BoolElements, kBool)
PORTACL_LANE(Complex<float>, LaneElements<float>, kC64)
PORTACL_LANE(Complex<double>, LaneElements<double>, kC128)
#undef PORTACL_LANE

template <class Lane>
inline constexpr bool kIsComplex = false;
template <class Real>
inline constexpr bool kIsComplex<Complex<Real>> = true;

template <class... Lane>
constexpr ElementTypes ElementTypesOf(LaneTypes<Lane...>) {
  return (ElementTypes{0} | ... | SetOf(LaneOf<Lane>::kType));
}

// Removes float32 from a list of lane types.
template <class... Lane>
constexpr auto WithoutFloat(LaneTypes<float, Lane...>) {
  return LaneTypes<Lane...>();
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
