// Compaction (see compaction.h), 64 elements at a time. A word of bits selects them, and each eight bits look up
// a permutation of a vector's lanes.
// SPDX-License-Identifier: Apache-2.0
#include "engine/compaction.h"

#include <array>
#include <limits>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/compaction.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#ifndef PORTACL_ENGINE_COMPACTION_LANES
#define PORTACL_ENGINE_COMPACTION_LANES

namespace portacl::engine::selected {

// For each eight bits: the source lane of each lane.
using LaneTable = std::array<std::array<uint8_t, 8>, 256>;

// Lists the lanes whose bits are 1, in order, then lane 0.
constexpr LaneTable PackedLanes() {
  LaneTable table{};
  for (size_t bits = 0; bits < 256; ++bits) {
    size_t packed = 0;
    for (size_t lane = 0; lane < 8; ++lane) {
      if ((bits >> lane & 1) != 0) table[bits][packed++] = static_cast<uint8_t>(lane);
    }
  }
  return table;
}
// Counts, for each lane, the lanes before it whose bits are 1.
constexpr LaneTable UnpackedLanes() {
  LaneTable table{};
  for (size_t bits = 0; bits < 256; ++bits) {
    uint8_t before = 0;
    for (size_t lane = 0; lane < 8; ++lane) {
      table[bits][lane] = before;
      if ((bits >> lane & 1) != 0) ++before;
    }
  }
  return table;
}

alignas(64) inline constexpr LaneTable kPackedLanes = PackedLanes();
alignas(64) inline constexpr LaneTable kUnpackedLanes = UnpackedLanes();

inline constexpr int64_t kWord = 64;

}  // namespace portacl::engine::selected

#endif

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Without vectors there is nothing to gain.
#if HWY_TARGET == HWY_EMU128 || HWY_TARGET == HWY_SCALAR
constexpr bool kHasVectors = false;
#else
constexpr bool kHasVectors = true;
#endif

template <class D, class V>
HWY_INLINE V TakeLanes(D d, V v, const uint8_t* lanes) {
  using T = hn::TFromD<D>;
  const auto lane = hn::LoadU(hn::Rebind<uint8_t, D>(), lanes);
  if constexpr (sizeof(T) == 1) {
    return hn::TableLookupBytes(v, lane);
  } else if constexpr (sizeof(T) == 2) {
    const hn::Rebind<uint16_t, D> d16;
    const auto wide = hn::PromoteTo(d16, lane);
    const auto bytes =
        hn::Or(hn::ShiftLeft<1>(wide), hn::Add(hn::ShiftLeft<9>(wide), hn::Set(d16, uint16_t{256})));
    return hn::TableLookupBytes(v, bytes);
  } else {
    const hn::Rebind<uint32_t, D> d32;
    const auto wide = hn::PromoteTo(d32, lane);
    if constexpr (sizeof(T) == 4) {
      return hn::TableLookupLanes(v, hn::IndicesFromVec(d, wide));
    } else {
      return hn::TableLookupLanes(v, hn::IndicesFromVec(d, hn::PromoteTo(d, wide)));
    }
  }
}

template <class M, class D>
HWY_INLINE uint64_t BitsOf(D d, M mask) {
  uint64_t bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<uint8_t*>(&bits));
  return bits;
}

// Returns a bit for each of 64 bytes that is not 0.
HWY_INLINE uint64_t TrueBytes(const unsigned char* mask) {
  const hn::CappedTag<uint8_t, selected::kWord> d;
  uint64_t bits = 0;
  for (size_t i = 0; i < selected::kWord; i += hn::Lanes(d))
    bits |= BitsOf(d, hn::Ne(hn::LoadU(d, mask + i), hn::Zero(d))) << i;
  return bits;
}

// Returns a bit for each of 64 elements that differs from the previous one. kInfinity is the bits of
// infinity, or 0 for integers.
template <class T, T kInfinity>
HWY_INLINE uint64_t RunBeginnings(const char* source) {
  const hn::CappedTag<T, selected::kWord> d;
  const T* const from = reinterpret_cast<const T*>(source);
  uint64_t bits = 0;
  for (size_t i = 0; i < selected::kWord; i += hn::Lanes(d)) {
    const auto before = hn::LoadU(d, from + i - 1);
    const auto one = hn::LoadU(d, from + i);
    auto differs = hn::Ne(before, one);
    if constexpr (kInfinity != 0) {
      const auto magnitude = hn::Set(d, std::numeric_limits<T>::max());
      const auto is_zero = hn::Eq(hn::And(hn::Or(before, one), magnitude), hn::Zero(d));
      const auto is_nan = hn::Gt(hn::And(one, magnitude), hn::Set(d, kInfinity));
      differs = hn::Or(hn::AndNot(is_zero, differs), is_nan);
    }
    bits |= BitsOf(d, differs) << i;
  }
  return bits;
}

// Packs the elements that bits_of(i), a word of bits for elements [i, i + 64), selects.
template <class T, class BitsAt>
HWY_INLINE Compacted PackWords(const T* from, int64_t n, T* packed, int64_t room, const BitsAt& bits_at) {
  const hn::CappedTag<T, 8> d;
  const size_t lanes = hn::Lanes(d);
  T* to = packed;
  int64_t i = 0;
  // The vectors of a word write at most 64 elements, whatever is selected.
  for (; kHasVectors && i + selected::kWord <= n && packed + room - to >= selected::kWord;
       i += selected::kWord) {
    uint64_t bits = bits_at(i);
    if (bits == 0) continue;
    for (size_t k = 0; k < selected::kWord; k += lanes) {
      const uint64_t own = bits & ((uint64_t{1} << lanes) - 1);
      bits >>= lanes;
      hn::StoreU(TakeLanes(d, hn::LoadU(d, from + i + k), selected::kPackedLanes[own].data()), d, to);
      to += hwy::PopCount(own);
    }
  }
  return {i, to - packed};
}

template <class T>
Compacted Pack(const unsigned char* mask, const char* from, int64_t n, char* packed, int64_t room) {
  return PackWords(reinterpret_cast<const T*>(from), n, reinterpret_cast<T*>(packed), room,
                   [mask](int64_t i) { return TrueBytes(mask + i); });
}

template <class T, T kInfinity>
Compacted PackRuns(const char* source, int64_t n, char* packed, int64_t room) {
  using Bits = std::make_unsigned_t<T>;
  return PackWords(
      reinterpret_cast<const Bits*>(source), n, reinterpret_cast<Bits*>(packed), room,
      [source](int64_t i) { return RunBeginnings<T, kInfinity>(source + i * int64_t{sizeof(T)}); });
}

template <class T>
Compacted Unpack(const unsigned char* mask, const char* packed, int64_t given, char* destination, int64_t n) {
  const hn::CappedTag<T, 8> d;
  const size_t lanes = hn::Lanes(d);
  const T* const first = reinterpret_cast<const T*>(packed);
  const T* from = first;
  T* const to = reinterpret_cast<T*>(destination);
  int64_t i = 0;
  for (; kHasVectors && i + selected::kWord <= n && first + given - from >= selected::kWord;
       i += selected::kWord) {
    uint64_t bits = TrueBytes(mask + i);
    if (bits == 0) continue;
    for (size_t k = 0; k < selected::kWord; k += lanes) {
      const uint64_t own = bits & ((uint64_t{1} << lanes) - 1);
      bits >>= lanes;
      const auto is_true = hn::LoadMaskBits(d, reinterpret_cast<const uint8_t*>(&own));
      const auto taken = TakeLanes(d, hn::LoadU(d, from), selected::kUnpackedLanes[own].data());
      T* const at = to + i + k;
      hn::StoreU(hn::IfThenElse(is_true, taken, hn::LoadU(d, at)), d, at);
      from += hwy::PopCount(own);
    }
  }
  return {i, from - first};
}

PackFunction PackOf(int32_t size) {
  switch (size) {
    case 1:
      return Pack<uint8_t>;
    case 2:
      return Pack<uint16_t>;
    case 4:
      return Pack<uint32_t>;
    case 8:
      return Pack<uint64_t>;
    default:
      return [](const unsigned char*, const char*, int64_t, char*, int64_t) { return Compacted{0, 0}; };
  }
}

UnpackFunction UnpackOf(int32_t size) {
  switch (size) {
    case 1:
      return Unpack<uint8_t>;
    case 2:
      return Unpack<uint16_t>;
    case 4:
      return Unpack<uint32_t>;
    case 8:
      return Unpack<uint64_t>;
    default:
      return [](const unsigned char*, const char*, int64_t, char*, int64_t) { return Compacted{0, 0}; };
  }
}

PackRunsFunction PackRunsOf(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT:
      return PackRuns<int32_t, 0x7F800000>;
    case ACL_DOUBLE:
      return PackRuns<int64_t, 0x7FF0000000000000>;
    case ACL_FLOAT16:
      return PackRuns<int16_t, 0x7C00>;
    case ACL_BF16:
      return PackRuns<int16_t, 0x7F80>;
    case ACL_INT8:
    case ACL_UINT8:
      return PackRuns<int8_t, 0>;
    case ACL_INT16:
    case ACL_UINT16:
      return PackRuns<int16_t, 0>;
    case ACL_INT32:
    case ACL_UINT32:
      return PackRuns<int32_t, 0>;
    default:
      return PackRuns<int64_t, 0>;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {

PackFunction FindPack(Isa isa, int32_t size) noexcept { return PORTACL_ISA_TABLE(PackOf).For(isa)(size); }
UnpackFunction FindUnpack(Isa isa, int32_t size) noexcept {
  return PORTACL_ISA_TABLE(UnpackOf).For(isa)(size);
}
PackRunsFunction FindPackRuns(Isa isa, aclDataType dtype) noexcept {
  return PORTACL_ISA_TABLE(PackRunsOf).For(isa)(dtype);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
