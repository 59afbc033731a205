// Strided copies (see strided.h): every second element with vectors, all others one by one.
// SPDX-License-Identifier: Apache-2.0
#include "engine/strided.h"

#include <cstring>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/strided.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

// Only this target has masked stores that are fast and touch nothing else.
#if HWY_TARGET == HWY_AVX3

namespace hn = hwy::HWY_NAMESPACE;

template <class Element>
void GatherEverySecond(const char* source, void* destination, int64_t n) {
  const hn::ScalableTag<Element> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto* const from = reinterpret_cast<const Element*>(source);
  auto* const to = static_cast<Element*>(destination);
  int64_t i = 0;
  for (; i + lanes < n; i += lanes) {
    const auto low = hn::LoadU(d, from + 2 * i);
    const auto high = hn::LoadU(d, from + 2 * i + lanes);
    hn::StoreU(hn::ConcatEven(d, high, low), d, to + i);
  }
  Gather(source + 2 * i * int64_t{sizeof(Element)}, 2 * int64_t{sizeof(Element)}, sizeof(Element), to + i,
         n - i);
}

template <class Element>
void ScatterEverySecond(const void* source, char* destination, int64_t n) {
  const hn::ScalableTag<Element> d;
  const hn::RepartitionToWide<decltype(d)> wide;
  const hn::Rebind<Element, decltype(wide)> half;
  using Wide = hn::TFromD<decltype(wide)>;
  const auto low = hn::BitCast(d, hn::Set(wide, static_cast<Wide>(static_cast<Element>(~Element{0}))));
  const auto even = hn::Eq(low, hn::Set(d, static_cast<Element>(~Element{0})));
  const auto lanes = static_cast<int64_t>(hn::Lanes(half));
  const auto* const from = static_cast<const Element*>(source);
  auto* const to = reinterpret_cast<Element*>(destination);
  int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    const auto apart = hn::BitCast(d, hn::PromoteTo(wide, hn::LoadU(half, from + i)));
    hn::BlendedStore(apart, even, d, to + 2 * i);
  }
  Scatter(from + i, destination + 2 * i * int64_t{sizeof(Element)}, 2 * int64_t{sizeof(Element)},
          sizeof(Element), n - i);
}

void GatherInVectors(const char* source, int64_t stride, int32_t size, void* destination, int64_t n) {
  if (size == 4 && stride == 8) return GatherEverySecond<uint32_t>(source, destination, n);
  if (size == 2 && stride == 4) return GatherEverySecond<uint16_t>(source, destination, n);
  Gather(source, stride, size, destination, n);
}

void ScatterInVectors(const void* source, char* destination, int64_t stride, int32_t size, int64_t n) {
  if (size == 4 && stride == 8) return ScatterEverySecond<uint32_t>(source, destination, n);
  if (size == 2 && stride == 4) return ScatterEverySecond<uint16_t>(source, destination, n);
  Scatter(source, destination, stride, size, n);
}

#else

void GatherInVectors(const char* source, int64_t stride, int32_t size, void* destination, int64_t n) {
  Gather(source, stride, size, destination, n);
}

void ScatterInVectors(const void* source, char* destination, int64_t stride, int32_t size, int64_t n) {
  Scatter(source, destination, stride, size, n);
}

#endif

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace portacl::engine {
namespace {

struct Element16 {
  unsigned char bytes[16];
};

template <class Element>
void GatherElements(const char* source, int64_t stride, void* destination, int64_t n) {
  auto* to = static_cast<char*>(destination);
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(to + i * int64_t{sizeof(Element)}, source + i * stride, sizeof(Element));
}

using Words = uint32_t __attribute__((vector_size(16)));
using Shorts = uint16_t __attribute__((vector_size(16)));

// Gathers every second element with vectors that every machine has; the compiler's vector types need no
// dispatch. Reads the gaps between elements, but nothing after the last one.
inline auto Even(Words low, Words high) { return __builtin_shufflevector(low, high, 0, 2, 4, 6); }
inline auto Even(Shorts low, Shorts high) {
#if defined(__SSE2__)
  // Works without a shuffle of 16-bit lanes: the even halves, sign-extended, survive the saturating pack.
  const auto extend = [](Shorts v) {
    return _mm_srai_epi32(_mm_slli_epi32(reinterpret_cast<__m128i>(v), 16), 16);
  };
  return reinterpret_cast<Shorts>(_mm_packs_epi32(extend(low), extend(high)));
#else
  return __builtin_shufflevector(low, high, 0, 2, 4, 6, 8, 10, 12, 14);
#endif
}

// The prefetch distance: the processor's own prefetching stops at the end of a page, and a tile is hardly
// longer. The memory need not be readable.
constexpr int64_t kAhead = 4096;

template <class Vector, class Element, bool kAskAhead>
void GatherEverySecond(const char* source, void* destination, int64_t n) {
  constexpr int64_t kLanes = 16 / int64_t{sizeof(Element)};
  auto* to = static_cast<char*>(destination);
  int64_t i = 0;
  for (; i + kLanes < n; i += kLanes) {
    Vector low;
    Vector high;
    std::memcpy(&low, source + 2 * i * int64_t{sizeof(Element)}, sizeof low);
    std::memcpy(&high, source + (2 * i + kLanes) * int64_t{sizeof(Element)}, sizeof high);
    if constexpr (kAskAhead) __builtin_prefetch(source + 2 * i * int64_t{sizeof(Element)} + kAhead);
    const Vector even = Even(low, high);
    std::memcpy(to + i * int64_t{sizeof(Element)}, &even, sizeof even);
  }
  GatherElements<Element>(source + 2 * i * int64_t{sizeof(Element)}, 2 * int64_t{sizeof(Element)},
                          to + i * int64_t{sizeof(Element)}, n - i);
}

// Stores elements one by one: the gaps may belong to another thread and are not touched. kStride is the
// stride if it is constant, else 0.
template <class Element, int64_t kStride = 0>
void ScatterElements(const void* source, char* destination, int64_t stride, int64_t n) {
  if constexpr (kStride != 0) stride = kStride;
  const auto* from = static_cast<const char*>(source);
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(destination + i * stride, from + i * int64_t{sizeof(Element)}, sizeof(Element));
}

template <bool kAskAhead>
void GatherFrom(const char* source, int64_t stride, int32_t size, void* destination, int64_t n) {
  switch (size) {
    case 1:
      return GatherElements<uint8_t>(source, stride, destination, n);
    case 2:
      if (stride == 4) return GatherEverySecond<Shorts, uint16_t, kAskAhead>(source, destination, n);
      return GatherElements<uint16_t>(source, stride, destination, n);
    case 4:
      if (stride == 8) return GatherEverySecond<Words, uint32_t, kAskAhead>(source, destination, n);
      return GatherElements<uint32_t>(source, stride, destination, n);
    case 8:
      return GatherElements<uint64_t>(source, stride, destination, n);
    default:
      return GatherElements<Element16>(source, stride, destination, n);
  }
}

}  // namespace

void Gather(const char* source, int64_t stride, int32_t size, void* destination, int64_t n) noexcept {
  GatherFrom<false>(source, stride, size, destination, n);
}

void Scatter(const void* source, char* destination, int64_t stride, int32_t size, int64_t n) noexcept {
  switch (size) {
    case 1:
      return ScatterElements<uint8_t>(source, destination, stride, n);
    case 2:
      if (stride == 4) return ScatterElements<uint16_t, 4>(source, destination, stride, n);
      return ScatterElements<uint16_t>(source, destination, stride, n);
    case 4:
      if (stride == 8) return ScatterElements<uint32_t, 8>(source, destination, stride, n);
      return ScatterElements<uint32_t>(source, destination, stride, n);
    case 8:
      return ScatterElements<uint64_t>(source, destination, stride, n);
    default:
      return ScatterElements<Element16>(source, destination, stride, n);
  }
}

GatherFunction FindGather(Isa isa, GatherSource source) noexcept {
  constexpr auto kTable = PORTACL_ISA_TABLE(GatherInVectors);
  switch (source) {
    case GatherSource::kMemory:
      return Gather;
    case GatherSource::kMemoryAskedAhead:
      return GatherFrom<true>;
    default:
      return kTable.For(isa);
  }
}

ScatterFunction FindScatter(Isa isa, bool from_memory) noexcept {
  constexpr auto kTable = PORTACL_ISA_TABLE(ScatterInVectors);
  return from_memory ? Scatter : kTable.For(isa);
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
