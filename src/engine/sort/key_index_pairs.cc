// Makes the key-index pairs of elements, of all or of those below a bound (see sort_lines.h). Plain loops
// that the compiler vectorises, compiled once per instruction set.
// SPDX-License-Identifier: Apache-2.0
#include "base/vector_targets.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "engine/sort/key_index_pairs.cc"
#include "base/foreach_target.h"

#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "engine/buffer_ref.h"
#include "engine/sort/sort_lines.h"

#ifndef PORTACL_ENGINE_SORT_KEY_INDEX_PAIRS
#define PORTACL_ENGINE_SORT_KEY_INDEX_PAIRS
namespace portacl::engine {

struct PairRun {
  const char* elements;
  int64_t n;
  int64_t first;
  uint64_t flips;
  uint64_t below;
  int64_t most;
};

template <class Pair>
struct PairFunctions {
  KeyRange (*make)(const PairRun& run, Pair* pairs);
  int64_t (*filter)(const PairRun& run, Pair* pairs, int64_t* count);
};

}  // namespace portacl::engine
#endif  // PORTACL_ENGINE_SORT_KEY_INDEX_PAIRS

HWY_BEFORE_NAMESPACE();
namespace portacl::engine {
namespace HWY_NAMESPACE {

template <class Bits>
constexpr Bits kSign = static_cast<Bits>(Bits{1} << (sizeof(Bits) * 8 - 1));

// Keys have 32 bits, or 64 for longer elements.
template <class Bits>
using KeyFor = std::conditional_t<sizeof(Bits) == 8, uint64_t, uint32_t>;

// Turns the bits of a float, whose infinity is kInfinity, into a key. Has no branches, so that it vectorises.
template <class Bits_, Bits_ kInfinity>
struct FloatKey {
  using Bits = Bits_;
  static HWY_INLINE KeyFor<Bits> Of(Bits bits) {
    const auto magnitude = static_cast<Bits>(bits & static_cast<Bits>(~kSign<Bits>));
    const auto ordered = static_cast<Bits>(bits == magnitude ? bits | kSign<Bits> : ~bits);
    const Bits number = magnitude == 0 ? kSign<Bits> : ordered;
    return magnitude > kInfinity ? std::numeric_limits<Bits>::max() : number;
  }
};
template <class Bits_>
struct SignedKey {
  using Bits = Bits_;
  static HWY_INLINE KeyFor<Bits> Of(Bits bits) { return static_cast<Bits>(bits ^ kSign<Bits>); }
};
template <class Bits_>
struct UnsignedKey {
  using Bits = Bits_;
  static HWY_INLINE KeyFor<Bits> Of(Bits bits) { return bits; }
};
struct BoolKey {
  using Bits = uint8_t;
  static HWY_INLINE uint32_t Of(uint8_t byte) { return byte != 0 ? 1 : 0; }
};

HWY_INLINE void PutPair(uint64_t key, int64_t position, NarrowPair* pair) {
  *pair = key << 32 | static_cast<uint64_t>(position);
}
HWY_INLINE void PutPair(uint64_t key, int64_t position, WidePair* pair) {
  *pair = {key, static_cast<uint64_t>(position)};
}

template <class KeyRule, class Pair>
KeyRange Make(const PairRun& run, Pair* HWY_RESTRICT pairs) {
  using Bits = typename KeyRule::Bits;
  using Key = KeyFor<Bits>;
  const auto flips = static_cast<Key>(run.flips);
  Key least = std::numeric_limits<Key>::max();
  Key most = 0;
  const char* const elements = run.elements;
  const int64_t first = run.first;
  for (int64_t i = 0; i < run.n; ++i) {
    const Bits bits = Load<Bits>(elements + i * static_cast<int64_t>(sizeof(Bits)));
    const Key key = KeyRule::Of(bits) ^ flips;
    least = std::min(least, key);
    most = std::max(most, key);
    PutPair(key, first + i, pairs + i);
  }
  return {least, most};
}

// Elements are examined one by one only if the least key of a step is below the bound.
template <class KeyRule, class Pair>
int64_t Filter(const PairRun& run, Pair* HWY_RESTRICT pairs, int64_t* count) {
  using Bits = typename KeyRule::Bits;
  using Key = KeyFor<Bits>;
  constexpr auto kSize = static_cast<int64_t>(sizeof(Bits));
  const auto flips = static_cast<Key>(run.flips);
  const auto below = static_cast<Key>(run.below);
  int64_t found = *count;
  int64_t i = 0;
  while (i < run.n && found <= run.most - kFilterStep) {
    const int64_t n = std::min(run.n - i, kFilterStep);
    const char* const from = run.elements + i * kSize;
    Key keys[kFilterStep];
    Key least = std::numeric_limits<Key>::max();
    if (n == kFilterStep) {
      for (int64_t k = 0; k < kFilterStep; ++k) {
        keys[k] = KeyRule::Of(Load<Bits>(from + k * kSize)) ^ flips;
        least = std::min(least, keys[k]);
      }
    } else {
      for (int64_t k = 0; k < n; ++k) {
        keys[k] = KeyRule::Of(Load<Bits>(from + k * kSize)) ^ flips;
        least = std::min(least, keys[k]);
      }
    }
    if (least < below) {
      for (int64_t k = 0; k < n; ++k) {
        PutPair(keys[k], run.first + i + k, pairs + found);
        found += keys[k] < below ? 1 : 0;
      }
    }
    i += n;
  }
  *count = found;
  return i;
}

template <class Pair, class KeyRule>
HWY_INLINE PairFunctions<Pair> Both() {
  return {Make<KeyRule, Pair>, Filter<KeyRule, Pair>};
}

template <class Pair>
HWY_INLINE PairFunctions<Pair> FunctionsOf(aclDataType dtype) {
  switch (dtype) {
    case ACL_BOOL:
      return Both<Pair, BoolKey>();
    case ACL_UINT8:
      return Both<Pair, UnsignedKey<uint8_t>>();
    case ACL_INT8:
      return Both<Pair, SignedKey<uint8_t>>();
    case ACL_INT16:
      return Both<Pair, SignedKey<uint16_t>>();
    case ACL_UINT16:
      return Both<Pair, UnsignedKey<uint16_t>>();
    case ACL_INT32:
      return Both<Pair, SignedKey<uint32_t>>();
    case ACL_UINT32:
      return Both<Pair, UnsignedKey<uint32_t>>();
    case ACL_FLOAT16:
      return Both<Pair, FloatKey<uint16_t, 0x7C00>>();
    case ACL_BF16:
      return Both<Pair, FloatKey<uint16_t, 0x7F80>>();
    case ACL_FLOAT:
      return Both<Pair, FloatKey<uint32_t, 0x7F800000>>();
    default:
      break;
  }
  if constexpr (std::is_same_v<Pair, WidePair>) {
    if (dtype == ACL_INT64) return Both<Pair, SignedKey<uint64_t>>();
    if (dtype == ACL_UINT64) return Both<Pair, UnsignedKey<uint64_t>>();
  }
  if constexpr (std::is_same_v<Pair, WidePair>) return Both<Pair, FloatKey<uint64_t, 0x7FF0000000000000>>();
  return {};
}

// The position of a pair is the number of smaller ones. All are compared with all, vectorised and without
// branches.
void SortFew(const NarrowPair* pairs, int64_t n, NarrowPair* HWY_RESTRICT sorted) {
  constexpr int64_t kStep = 8;
  NarrowPair all[kFewPairs];
  std::copy_n(pairs, n, all);
  const int64_t padded = (n + kStep - 1) / kStep * kStep;
  std::fill(all + n, all + padded, ~NarrowPair{0});
  for (int64_t i = 0; i < n; ++i) {
    const NarrowPair pair = all[i];
    uint64_t less = 0;
    for (int64_t k = 0; k < padded; k += kStep) {
      for (int64_t j = 0; j < kStep; ++j) less += all[k + j] < pair ? 1 : 0;
    }
    sorted[less] = pair;
  }
}

PairFunctions<NarrowPair> NarrowFunctions(aclDataType dtype) { return FunctionsOf<NarrowPair>(dtype); }
PairFunctions<WidePair> WideFunctions(aclDataType dtype) { return FunctionsOf<WidePair>(dtype); }

}  // namespace HWY_NAMESPACE
}  // namespace portacl::engine
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#include "engine/isa_table.h"

namespace portacl::engine {
namespace {

constexpr auto kNarrow = PORTACL_ISA_TABLE(NarrowFunctions);
constexpr auto kWide = PORTACL_ISA_TABLE(WideFunctions);
constexpr auto kSortFew = PORTACL_ISA_TABLE(SortFew);

PairFunctions<NarrowPair> Find(Isa isa, aclDataType dtype, const NarrowPair*) {
  return kNarrow.For(isa)(dtype);
}
PairFunctions<WidePair> Find(Isa isa, aclDataType dtype, const WidePair*) { return kWide.For(isa)(dtype); }

}  // namespace

void SortFew(Isa isa, NarrowPair* pairs, int64_t n, NarrowPair* other, NarrowPair** sorted) noexcept {
  *sorted = isa == Isa::kPortable ? pairs : other;
  // Without wide vectors a sort takes fewer comparisons.
  isa == Isa::kPortable ? std::sort(pairs, pairs + n) : kSortFew.For(isa)(pairs, n, other);
}

template <class Pair>
KeyRange MakePairs(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first, uint64_t flips,
                   Pair* pairs) noexcept {
  return Find(isa, dtype, pairs).make({elements, n, first, flips, 0, 0}, pairs);
}

template <class Pair>
int64_t FilterPairs(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first,
                    uint64_t flips, uint64_t below, int64_t most, Pair* pairs, int64_t* count) noexcept {
  return Find(isa, dtype, pairs).filter({elements, n, first, flips, below, most}, pairs, count);
}

template KeyRange MakePairs(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, NarrowPair*) noexcept;
template KeyRange MakePairs(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, WidePair*) noexcept;
template int64_t FilterPairs(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, uint64_t, int64_t,
                             NarrowPair*, int64_t*) noexcept;
template int64_t FilterPairs(Isa, aclDataType, const char*, int64_t, int64_t, uint64_t, uint64_t, int64_t,
                             WidePair*, int64_t*) noexcept;

}  // namespace portacl::engine

#endif  // HWY_ONCE
