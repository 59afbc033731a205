// Conversions (see conversions.h). The 16-bit ones use integer arithmetic, because Highway's truncate on some
// targets.
// SPDX-License-Identifier: Apache-2.0
#include "engine/conversions.h"

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/conversions.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>
#include "engine/half_precision-inl.h"

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// Converts the last, partial vector through buffers on the stack: nothing outside [0, n) is read or written.
template <class Elements>
HWY_INLINE void LoadElements(const void* source, float* destination, size_t n) {
  const DF d;
  using Type = typename Elements::Type;
  const auto* from = static_cast<const Type*>(source);
  const size_t lanes = hn::Lanes(d);
  size_t i = 0;
  for (; i + lanes <= n; i += lanes) hn::StoreU(Elements::Load(d, from + i), d, destination + i);
  if (i == n) return;
  HWY_ALIGN Type elements[HWY_MAX_BYTES / sizeof(float)] = {};
  HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)];
  std::memcpy(elements, from + i, (n - i) * sizeof(Type));
  hn::StoreU(Elements::Load(d, elements), d, values);
  std::memcpy(destination + i, values, (n - i) * sizeof(float));
}

template <class Elements>
HWY_INLINE void StoreElements(const float* source, void* destination, size_t n, bool stream) {
  const DF d;
  using Type = typename Elements::Type;
  auto* to = static_cast<Type*>(destination);
  const size_t lanes = hn::Lanes(d);
  const auto store_some = [&](size_t i, size_t count) HWY_ATTR {
    HWY_ALIGN float values[HWY_MAX_BYTES / sizeof(float)] = {};
    HWY_ALIGN Type elements[HWY_MAX_BYTES / sizeof(float)];
    std::memcpy(values, source + i, count * sizeof(float));
    Elements::Store(d, hn::LoadU(d, values), elements);
    std::memcpy(to + i, elements, count * sizeof(Type));
  };
  size_t i = 0;
  if constexpr (kCanStream) {
    if (stream && ComesToLine(to, sizeof(Type))) {
      for (const size_t head = ElementsToLine(to, sizeof(Type), n); i < head;) {
        const size_t count = HWY_MIN(lanes, head - i);
        store_some(i, count);
        i += count;
      }
      // Writes whole cache lines.
      for (; i + 4 * lanes <= n; i += 4 * lanes) {
        for (size_t j = i; j < i + 4 * lanes; j += 2 * lanes) {
          Elements::StoreTwo(d, hn::LoadU(d, source + j), hn::LoadU(d, source + j + lanes), to + j,
                             /*stream=*/true);
        }
      }
    }
  }
  for (; i + lanes <= n; i += lanes) Elements::Store(d, hn::LoadU(d, source + i), to + i);
  if (i < n) store_some(i, n - i);
}

void LoadF16(const void* source, float* destination, size_t n) {
  LoadElements<F16Elements>(source, destination, n);
}
void LoadBf16(const void* source, float* destination, size_t n) {
  LoadElements<Bf16Elements>(source, destination, n);
}

// Numbers that every float type holds exactly.
struct Int8Elements {
  using Type = int8_t;
  static HWY_INLINE VF Load(DF d, const Type* from) {
    return hn::ConvertTo(d,
                         hn::PromoteTo(hn::RebindToSigned<DF>(), hn::LoadU(hn::Rebind<int8_t, DF>(), from)));
  }
};
void LoadI8(const void* source, float* destination, size_t n) {
  LoadElements<Int8Elements>(source, destination, n);
}

void StoreF32(const float* source, void* destination, size_t n, bool stream) {
  StoreElements<F32Elements>(source, destination, n, stream);
}
void StoreF16(const float* source, void* destination, size_t n, bool stream) {
  StoreElements<F16Elements>(source, destination, n, stream);
}
void StoreBf16(const float* source, void* destination, size_t n, bool stream) {
  StoreElements<Bf16Elements>(source, destination, n, stream);
}

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/codes.h"
#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kLoadF16 = PORTACL_ISA_TABLE(LoadF16);
constexpr auto kLoadBf16 = PORTACL_ISA_TABLE(LoadBf16);
constexpr auto kLoadI8 = PORTACL_ISA_TABLE(LoadI8);
constexpr auto kStoreF32 = PORTACL_ISA_TABLE(StoreF32);
constexpr auto kStoreF16 = PORTACL_ISA_TABLE(StoreF16);
constexpr auto kStoreBf16 = PORTACL_ISA_TABLE(StoreBf16);

void LoadF32(const void* source, float* destination, size_t n) {
  std::memcpy(destination, source, n * sizeof(float));
}

// Rounds an integer to nearest even, to `kBits` significant bits. Magnitudes that need no more stay exact.
template <int kBits>
float RoundToSignificantBits(int64_t value) {
  const uint64_t magnitude = value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
  const int width = static_cast<int>(std::bit_width(magnitude));
  uint64_t kept = magnitude;
  int dropped = 0;
  if (width > kBits) {
    dropped = width - kBits;
    kept = magnitude >> dropped;
    const uint64_t rest = magnitude & ((uint64_t{1} << dropped) - 1);
    const uint64_t half = uint64_t{1} << (dropped - 1);
    if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  }
  // Both factors and their product are exact in float32.
  const float scaled =
      static_cast<float>(kept) * std::bit_cast<float>(static_cast<uint32_t>(127 + dropped) << 23);
  return value < 0 ? -scaled : scaled;
}

struct ThroughF32 {
  template <class T>
  static float Round(T value) {
    return static_cast<float>(value);
  }
};

struct ThroughBf16 {
  template <class T>
  static float Round(T value) {
    return RoundToSignificantBits<8>(value);
  }
};

struct ThroughF16 {
  template <class T>
  static float Round(T value) {
    const float rounded = RoundToSignificantBits<11>(value);
    constexpr float kInfinity = std::bit_cast<float>(0x7F800000u);
    return rounded > 65504.0f ? kInfinity : rounded < -65504.0f ? -kInfinity : rounded;
  }
};

// The byte of a bool tensor, which may have any value.
struct BoolByte {
  uint8_t byte;
};

template <class T, class Through>
void LoadInteger(const void* source, float* destination, size_t n) {
  const auto* from = static_cast<const unsigned char*>(source);
  for (size_t i = 0; i < n; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    if constexpr (std::is_same_v<T, BoolByte>) {
      destination[i] = value.byte != 0 ? 1.0f : 0.0f;
    } else {
      destination[i] = Through::Round(value);
    }
  }
}

template <class Through>
LoadFunction FindIntegerLoad(aclDataType dtype) {
  switch (dtype) {
    case ACL_UINT8:
      return LoadInteger<uint8_t, Through>;
    case ACL_INT16:
      return LoadInteger<int16_t, Through>;
    case ACL_INT32:
      return LoadInteger<int32_t, Through>;
    case ACL_INT64:
      return LoadInteger<int64_t, Through>;
    case ACL_BOOL:
      return LoadInteger<BoolByte, Through>;
    default:
      return nullptr;
  }
}

template <class Real, int kParts>
void StoreWide(const float* source, void* destination, size_t n, bool) {
  auto* to = static_cast<unsigned char*>(destination);
  for (size_t i = 0; i < n; ++i) {
    const Real parts[2] = {static_cast<Real>(source[i]), Real{0}};
    std::memcpy(to + i * sizeof(Real) * kParts, parts, sizeof(Real) * kParts);
  }
}

}  // namespace

LoadFunction FindLoad(Isa isa, aclDataType dtype, aclDataType through) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      return LoadF32;
    case ACL_FLOAT16:
      return kLoadF16.For(isa);
    case ACL_BF16:
      return kLoadBf16.For(isa);
    default:
      break;
  }
  if (const LoadFunction load = FindByteFloatLoad(dtype); load != nullptr) return load;
  if (dtype == ACL_INT8 && (through == ACL_FLOAT || through == ACL_FLOAT16 || through == ACL_BF16))
    return kLoadI8.For(isa);
  switch (through) {
    case ACL_FLOAT:
      return FindIntegerLoad<ThroughF32>(dtype);
    case ACL_FLOAT16:
      return FindIntegerLoad<ThroughF16>(dtype);
    case ACL_BF16:
      return FindIntegerLoad<ThroughBf16>(dtype);
    default:
      return nullptr;
  }
}

StoreFunction FindStore(Isa isa, aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_FLOAT:
      return kStoreF32.For(isa);
    case ACL_FLOAT16:
      return kStoreF16.For(isa);
    case ACL_BF16:
      return kStoreBf16.For(isa);
    case ACL_DOUBLE:
      return StoreWide<double, 1>;
    case ACL_COMPLEX64:
      return StoreWide<float, 2>;
    case ACL_COMPLEX128:
      return StoreWide<double, 2>;
    default:
      return FindByteFloatStore(dtype);
  }
}

}  // namespace portacl::engine

#endif  // HWY_ONCE
