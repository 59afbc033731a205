// Stable radix sort (see sort.h). Each part of the keys is counted by digit; then every part knows where its keys of each digit go.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/sort.h"

#include <algorithm>
#include <limits>
#include <type_traits>

#include "engine/parallel.h"
#include "engine/place.h"

namespace portacl::engine {
namespace {

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
// Fewer keys than these are not worth another thread.
constexpr int64_t kWorthPart = 32768;

template <class Bits>
constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));

// Bits of a float whose infinity is `infinity`.
template <class Key, class Bits, Bits kInfinity>
Key KeyOfFloat(Bits bits) {
  const auto magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign<Bits>));
  if (magnitude > kInfinity) return std::numeric_limits<Bits>::max();
  if (magnitude == 0) return kSign<Bits>;
  return static_cast<Bits>(bits == magnitude ? bits | kSign<Bits> : ~bits);
}

template <class Key, class Element, class KeyOf>
void ForAll(const char* elements, int64_t n, int threads, Key* keys, const KeyOf& key_of) {
  ForEachBlock((n + kWorthPart - 1) / kWorthPart, threads, [&](int64_t block) {
    const int64_t end = std::min(n, (block + 1) * kWorthPart);
    for (int64_t i = block * kWorthPart; i < end; ++i)
      keys[i] = key_of(Load<Element>(elements + i * static_cast<int64_t>(sizeof(Element))));
  });
}

template <class Key, class Signed>
Key KeyOfInteger(Signed value) {
  using Bits = std::make_unsigned_t<Signed>;
  return static_cast<Bits>(static_cast<Bits>(value) ^ kSign<Bits>);
}

}  // namespace

bool HasWideKeys(aclDataType dtype) noexcept {
  return dtype == ACL_DOUBLE || dtype == ACL_INT64 || dtype == ACL_UINT64;
}

bool IsFloatKey(aclDataType dtype) noexcept {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16 || dtype == ACL_DOUBLE;
}

bool HasKeys(aclDataType dtype) noexcept {
  switch (dtype) {
    case ACL_BOOL:
    case ACL_INT8:
    case ACL_UINT8:
    case ACL_INT16:
    case ACL_UINT16:
    case ACL_INT32:
    case ACL_UINT32:
    case ACL_INT64:
    case ACL_UINT64:
      return true;
    default:
      return IsFloatKey(dtype);
  }
}

uint64_t NanKey(aclDataType dtype) noexcept {
  if (dtype == ACL_FLOAT16 || dtype == ACL_BF16) return std::numeric_limits<uint16_t>::max();
  return HasWideKeys(dtype) ? std::numeric_limits<uint64_t>::max() : std::numeric_limits<uint32_t>::max();
}

template <class Key>
void MakeKeys(aclDataType dtype, const char* elements, int64_t n, int threads, Key* keys) noexcept {
  const auto same = [](auto value) { return static_cast<Key>(value); };
  const auto integer = [](auto value) { return KeyOfInteger<Key>(value); };
  if constexpr (std::is_same_v<Key, WideKey>) {
    switch (dtype) {
      case ACL_INT64:
        return ForAll<Key, int64_t>(elements, n, threads, keys, integer);
      case ACL_UINT64:
        return ForAll<Key, uint64_t>(elements, n, threads, keys, same);
      default:
        return ForAll<Key, uint64_t>(elements, n, threads, keys,
                                     KeyOfFloat<Key, uint64_t, 0x7FF0000000000000>);
    }
  } else {
    switch (dtype) {
      case ACL_BOOL:
        return ForAll<Key, uint8_t>(elements, n, threads, keys, [](uint8_t byte) { return Key{byte != 0}; });
      case ACL_UINT8:
        return ForAll<Key, uint8_t>(elements, n, threads, keys, same);
      case ACL_INT8:
        return ForAll<Key, int8_t>(elements, n, threads, keys, integer);
      case ACL_INT16:
        return ForAll<Key, int16_t>(elements, n, threads, keys, integer);
      case ACL_UINT16:
        return ForAll<Key, uint16_t>(elements, n, threads, keys, same);
      case ACL_INT32:
        return ForAll<Key, int32_t>(elements, n, threads, keys, integer);
      case ACL_UINT32:
        return ForAll<Key, uint32_t>(elements, n, threads, keys, same);
      case ACL_FLOAT16:
        return ForAll<Key, uint16_t>(elements, n, threads, keys, KeyOfFloat<Key, uint16_t, 0x7C00>);
      case ACL_BF16:
        return ForAll<Key, uint16_t>(elements, n, threads, keys, KeyOfFloat<Key, uint16_t, 0x7F80>);
      default:
        return ForAll<Key, uint32_t>(elements, n, threads, keys, KeyOfFloat<Key, uint32_t, 0x7F800000>);
    }
  }
}

template <class Key, class Position>
int SortKeys(const SortMemory<Key, Position>& memory, int64_t n, int threads) noexcept {
  const auto parts =
      static_cast<int>(std::clamp<int64_t>(n / kWorthPart, 1, std::clamp(threads, 1, kMostSortParts)));
  const int64_t share = (n + parts - 1) / parts;
  const auto of_part = [&](int64_t part, const auto& body) {
    const int64_t end = std::min(n, (part + 1) * share);
    for (int64_t i = part * share; i < end; ++i) body(i);
  };
  // Digits are those of the distance to the least key: small numbers have few, whatever their signs.
  Key least[kMostSortParts];
  Key most[kMostSortParts];
  bool is_sorted[kMostSortParts];
  ForEachBlock(parts, threads, [&](int64_t part) {
    const Key* const keys = memory.keys[0];
    Key low = std::numeric_limits<Key>::max();
    Key high = 0;
    bool ascends = true;
    of_part(part, [&](int64_t i) {
      low = std::min(low, keys[i]);
      high = std::max(high, keys[i]);
      ascends = ascends && (i == 0 || keys[i - 1] <= keys[i]);
      memory.positions[0][i] = static_cast<Position>(i);
    });
    least[part] = low;
    most[part] = high;
    is_sorted[part] = ascends;
  });
  if (std::all_of(is_sorted, is_sorted + parts, [](bool one) { return one; })) return 0;
  const Key low = *std::min_element(least, least + parts);
  const auto range = static_cast<Key>(*std::max_element(most, most + parts) - low);
  int from = 0;
  for (int shift = 0; shift < static_cast<int>(sizeof(Key)) * 8 && range >> shift != 0; shift += kDigitBits) {
    const Key* const keys = memory.keys[from];
    const Position* const positions = memory.positions[from];
    Key* const to_keys = memory.keys[1 - from];
    Position* const to_positions = memory.positions[1 - from];
    const auto digit = [&](Key key) {
      return static_cast<size_t>(static_cast<Key>(key - low) >> shift) & (kDigits - 1);
    };
    ForEachBlock(parts, threads, [&](int64_t part) {
      int64_t counts[kDigits] = {};
      of_part(part, [&](int64_t i) { ++counts[digit(keys[i])]; });
      std::copy(counts, counts + kDigits, memory.counts + part * kDigits);
    });
    int64_t sum = 0;
    for (int one = 0; one < kDigits; ++one) {
      for (int part = 0; part < parts; ++part) {
        const int64_t count = memory.counts[part * kDigits + one];
        memory.counts[part * kDigits + one] = sum;
        sum += count;
      }
    }
    ForEachBlock(parts, threads, [&](int64_t part) {
      int64_t next[kDigits];
      std::copy_n(memory.counts + part * kDigits, kDigits, next);
      of_part(part, [&](int64_t i) {
        const int64_t at = next[digit(keys[i])]++;
        to_keys[at] = keys[i];
        to_positions[at] = positions[i];
      });
    });
    from = 1 - from;
  }
  return from;
}

template void MakeKeys(aclDataType, const char*, int64_t, int, NarrowKey*) noexcept;
template void MakeKeys(aclDataType, const char*, int64_t, int, WideKey*) noexcept;
template int SortKeys(const SortMemory<NarrowKey, uint32_t>&, int64_t, int) noexcept;
template int SortKeys(const SortMemory<NarrowKey, int64_t>&, int64_t, int) noexcept;
template int SortKeys(const SortMemory<WideKey, uint32_t>&, int64_t, int) noexcept;
template int SortKeys(const SortMemory<WideKey, int64_t>&, int64_t, int) noexcept;

}  // namespace portacl::engine
