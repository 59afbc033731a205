// 16-bit floats in registers: 16 bits in memory, float32 in vectors, rounded to nearest even.
// SPDX-License-Identifier: Apache-2.0

// Per-target include guard, as Highway's -inl.h files have it.
#if defined(PORTACL_ENGINE_HALF_PRECISION_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef PORTACL_ENGINE_HALF_PRECISION_INL_H_
#undef PORTACL_ENGINE_HALF_PRECISION_INL_H_
#else
#define PORTACL_ENGINE_HALF_PRECISION_INL_H_
#endif

#include <cstdint>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

using DF = hn::ScalableTag<float>;
using DU = hn::ScalableTag<uint32_t>;
using DI = hn::ScalableTag<int32_t>;
using DH = hn::Rebind<uint16_t, DU>;
using VF = hn::Vec<DF>;
using VU = hn::Vec<DU>;
using VH = hn::Vec<DH>;

// A 16-bit value in the low half of each 32-bit lane -> float32 bits.
HWY_INLINE VU WidenBf16(DU, VU half) { return hn::ShiftLeft<16>(half); }

HWY_INLINE VU WidenF16(DU du, VU half) {
  const DF df;
  const VU sign = hn::ShiftLeft<16>(hn::And(half, hn::Set(du, 0x8000u)));
  const VU magnitude = hn::And(half, hn::Set(du, 0x7FFFu));
  const VU shifted = hn::ShiftLeft<13>(magnitude);
  const VU normal = hn::Add(shifted, hn::Set(du, 112u << 23));
  const VU infinite = hn::Add(shifted, hn::Set(du, 224u << 23));
  // Gives a subnormal the exponent of 2^-14, which adds a hidden bit, and subtracts that: exact.
  const VU subnormal = hn::BitCast(du, hn::Sub(hn::BitCast(df, hn::Add(shifted, hn::Set(du, 113u << 23))),
                                               hn::BitCast(df, hn::Set(du, 113u << 23))));
  const DI di;
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto is_subnormal = hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 0x0400)));
  const auto is_infinite = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7BFF)));
  return hn::Or(sign, hn::IfThenElse(is_infinite, infinite, hn::IfThenElse(is_subnormal, subnormal, normal)));
}

// float32 bits -> bf16, rounded to nearest even, in the high half of each lane. The low half is unspecified.
HWY_INLINE VU RoundToBf16(DU du, VU bits) {
  const DF df;
  const VU odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(du, 1u));
  const VU rounded = hn::Add(bits, hn::Add(odd, hn::Set(du, 0x7FFFu)));
  const VF value = hn::BitCast(df, bits);
  return hn::IfThenElse(hn::RebindMask(du, hn::Eq(value, value)), rounded, hn::Set(du, 0x7FC00000u));
}

// float32 bits -> 16-bit value in the low half of each lane, rounded to nearest even.
HWY_INLINE VU NarrowBf16(DU du, VU bits) { return hn::ShiftRight<16>(RoundToBf16(du, bits)); }

HWY_INLINE VU NarrowF16(DU du, VU bits) {
  const DF df;
  const DI di;
  const VU sign = hn::ShiftRight<16>(hn::And(bits, hn::Set(du, 0x80000000u)));
  const VU magnitude = hn::And(bits, hn::Set(du, 0x7FFFFFFFu));
  const VU odd = hn::And(hn::ShiftRight<13>(magnitude), hn::Set(du, 1u));
  // Rebiases the exponent by -112 and rounds away the low 13 bits. A carry into the exponent gives the right
  // result.
  const VU normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(odd, hn::Set(du, 0xFFFu - (112u << 23)))));
  // Adding 0.5 aligns the units of a small value with the subnormals' 2^-24, and rounds it to nearest even.
  const VU aligned = hn::BitCast(du, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f)));
  const VU subnormal = hn::Sub(aligned, hn::Set(du, 126u << 23));
  const auto signed_magnitude = hn::BitCast(di, magnitude);
  const auto is_subnormal = hn::RebindMask(du, hn::Lt(signed_magnitude, hn::Set(di, 113 << 23)));
  const auto is_infinite =
      hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x477FEFFF)));  // from 65520 on
  const auto is_nan = hn::RebindMask(du, hn::Gt(signed_magnitude, hn::Set(di, 0x7F800000)));
  VU result = hn::IfThenElse(is_subnormal, subnormal, normal);
  result = hn::IfThenElse(is_infinite, hn::Set(du, 0x7C00u), result);
  result = hn::IfThenElse(is_nan, hn::Set(du, 0x7E00u), result);
  return hn::Or(sign, result);
}

HWY_INLINE VU LoadHalves(DU du, const uint16_t* source) { return hn::PromoteTo(du, hn::LoadU(DH(), source)); }

// Values are at most 0xFFFF, so that the saturating demotion from signed keeps them.
HWY_INLINE VH PackHalves(VU halves) { return hn::DemoteTo(DH(), hn::BitCast(DI(), halves)); }

// Tells whether the target can write whole cache lines past the caches.
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
constexpr bool kCanStream = true;
#else
constexpr bool kCanStream = false;
#endif

// Writes a whole vector. With `stream`, which requires an aligned `to`, it goes past the caches if possible.
template <class D>
HWY_INLINE void StoreWhole(D d, hn::Vec<D> v, hn::TFromD<D>* to, bool stream) {
  if (kCanStream && stream) {
    hn::Stream(v, d, to);
  } else {
    hn::StoreU(v, d, to);
  }
}

// Loads elements of one type as float32 vectors and stores them.
struct F32Elements {
  using Type = float;
  using D = DF;
  using V = VF;
  static constexpr bool kIsPaired = false;
  static HWY_INLINE VF Load(DF d, const Type* from) { return hn::LoadU(d, from); }
  static HWY_INLINE void Store(DF d, VF v, Type* to) { hn::StoreU(v, d, to); }
  static HWY_INLINE void StoreTwo(DF d, VF first, VF second, Type* to, bool stream) {
    StoreWhole(d, first, to, stream);
    StoreWhole(d, second, to + hn::Lanes(d), stream);
  }
};

// Joins two vectors of 16-bit values before storing, since half a vector would be streamed as 16 bytes.
template <class Elements>
HWY_INLINE void StoreTwoHalves(DF d, VF first, VF second, uint16_t* to, [[maybe_unused]] bool stream) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  const hn::ScalableTag<uint16_t> dh;
  const VH low = Elements::Round(first);
  StoreWhole(dh, hn::Combine(dh, Elements::Round(second), low), to, stream);
#else
  Elements::Store(d, first, to);
  Elements::Store(d, second, to + hn::Lanes(d));
#endif
}

struct Bf16Elements {
  using Type = uint16_t;
  using D = DF;
  using V = VF;
  static HWY_INLINE VF Load(DF d, const Type* from) {
    return hn::BitCast(d, WidenBf16(DU(), LoadHalves(DU(), from)));
  }
  static HWY_INLINE VH Round(VF v) { return PackHalves(NarrowBf16(DU(), hn::BitCast(DU(), v))); }
  static HWY_INLINE void Store(DF, VF v, Type* to) { hn::StoreU(Round(v), DH(), to); }
  static HWY_INLINE void StoreTwo(DF d, VF first, VF second, Type* to, bool stream) {
    StoreTwoHalves<Bf16Elements>(d, first, second, to, stream);
  }

  // Even and odd elements of two vectors are the halves of 32-bit lanes, so that loading them moves nothing
  // across lanes. (A one-lane vector has no such halves.)
#if HWY_TARGET == HWY_SCALAR
  static constexpr bool kIsPaired = false;
#else
  static constexpr bool kIsPaired = true;
  static HWY_INLINE VU LoadPairs(const Type* from) {
    const hn::ScalableTag<uint16_t> dh;
    return hn::BitCast(DU(), hn::LoadU(dh, from));
  }
  static HWY_INLINE VF LoadEven(DF d, const Type* from) {
    return hn::BitCast(d, hn::ShiftLeft<16>(LoadPairs(from)));
  }
  static HWY_INLINE VF LoadOdd(DF d, const Type* from) {
    return hn::BitCast(d, hn::And(LoadPairs(from), hn::Set(DU(), 0xFFFF0000u)));
  }
  static HWY_INLINE void StoreEvenOdd(DF, VF even, VF odd, Type* to, bool stream) {
    const DU du;
    const hn::ScalableTag<uint16_t> dh;
    const auto low = hn::BitCast(dh, hn::ShiftRight<16>(RoundToBf16(du, hn::BitCast(du, even))));
    const auto high = hn::BitCast(dh, RoundToBf16(du, hn::BitCast(du, odd)));
    StoreWhole(dh, hn::OddEven(high, low), to, stream);
  }
#endif
};

// AVX2 and AVX-512 have conversion instructions that agree with the integer code, except for NaN payloads.
struct F16Elements {
  using Type = uint16_t;
  using D = DF;
  using V = VF;
  static constexpr bool kIsPaired = false;
#if HWY_TARGET == HWY_AVX3
  static HWY_INLINE VF Widen(VH halves) { return VF{_mm512_cvtph_ps(halves.raw)}; }
  static HWY_INLINE VF Load(DF, const Type* from) { return Widen(hn::LoadU(DH(), from)); }
  static HWY_INLINE VH Round(VF v) {
    return VH{_mm512_cvtps_ph(v.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
#elif HWY_TARGET == HWY_AVX2
  static HWY_INLINE VF Load(DF, const Type* from) { return VF{_mm256_cvtph_ps(hn::LoadU(DH(), from).raw)}; }
  static HWY_INLINE VH Round(VF v) {
    return VH{_mm256_cvtps_ph(v.raw, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)};
  }
#else
  static HWY_INLINE VF Load(DF d, const Type* from) {
    return hn::BitCast(d, WidenF16(DU(), LoadHalves(DU(), from)));
  }
  static HWY_INLINE VH Round(VF v) { return PackHalves(NarrowF16(DU(), hn::BitCast(DU(), v))); }
#endif
  static HWY_INLINE void Store(DF, VF v, Type* to) { hn::StoreU(Round(v), DH(), to); }
  static HWY_INLINE void StoreTwo(DF d, VF first, VF second, Type* to, bool stream) {
    StoreTwoHalves<F16Elements>(d, first, second, to, stream);
  }
};

// Returns the number of elements of `size` bytes before the next cache line, at most n.
HWY_INLINE size_t ElementsToLine(const void* to, size_t size, size_t n) {
  const size_t ahead = (64 - reinterpret_cast<uintptr_t>(to) % 64) % 64 / size;
  return HWY_MIN(ahead, n);
}

// Tells whether these elements can be streamed at all: an address that is not aligned to its elements never reaches
// the start of a line.
HWY_INLINE bool ComesToLine(const void* to, size_t size) {
  return reinterpret_cast<uintptr_t>(to) % size == 0;
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#endif  // per-target include guard
