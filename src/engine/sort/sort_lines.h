// Stable sorting and selection of keys with the positions that they come from. Radix passes sort them; counts
// of digits select them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "acl/acl_base.h"
#include "base/isa.h"

namespace portacl::engine {

// Tells whether keys have 64 bits. Keys are unsigned and ordered like the elements: -0 equals 0, and all NaN are
// equal, after all numbers.
bool HasWideKeys(aclDataType dtype) noexcept;
// Tells whether elements of this dtype have keys: real numbers and bool do.
bool HasKeys(aclDataType dtype) noexcept;
// Returns the key of NaN, which no number has. For dtypes without NaN it is the largest key and has no
// meaning.
uint64_t NanKey(aclDataType dtype) noexcept;
bool IsFloatKey(aclDataType dtype) noexcept;

// A key-index pair: a key and its position as one value. No two pairs of a row are equal, so that their order
// is unique: by keys, then by positions.
using NarrowPair = uint64_t;  // 32 bits of each
struct WidePair {
  uint64_t key;
  uint64_t position;

  bool operator<(const WidePair& other) const {
    return key < other.key || (key == other.key && position < other.position);
  }
};
inline uint64_t KeyOf(NarrowPair pair) { return pair >> 32; }
inline int64_t PositionOf(NarrowPair pair) { return static_cast<uint32_t>(pair); }
inline uint64_t KeyOf(const WidePair& pair) { return pair.key; }
inline int64_t PositionOf(const WidePair& pair) { return static_cast<int64_t>(pair.position); }

// Tells whether n elements need wide pairs.
inline bool HasWidePairs(aclDataType dtype, int64_t n) noexcept {
  return HasWideKeys(dtype) || n > std::numeric_limits<uint32_t>::max();
}

// Returns the bits whose XOR reverses the order of keys: the greatest come first and NaN before them. Equal
// ones stay in the order of positions.
uint64_t FlippedKeys(aclDataType dtype) noexcept;

struct KeyRange {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  uint64_t most = 0;
};

// Makes the key-index pairs of n dense elements. Keys are XORed with `flips`, 0 or FlippedKeys; positions
// begin at `first`. Returns the range of keys.
template <class Pair>
KeyRange MakePairs(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first, uint64_t flips,
                   Pair* pairs) noexcept;
// Does the same with several threads, from position 0 on.
template <class Pair>
void MakeAllPairs(Isa isa, aclDataType dtype, const char* elements, int64_t n, uint64_t flips, int threads,
                  Pair* pairs) noexcept;

// Appends the pairs of dense elements whose key is less than `below` to pairs[*count]. Stops when more than
// most - kFilterStep pairs are there. Returns how many elements were examined.
inline constexpr int64_t kFilterStep = 64;
template <class Pair>
int64_t FilterPairs(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first,
                    uint64_t flips, uint64_t below, int64_t most, Pair* pairs, int64_t* count) noexcept;

// The memory of a sort: two buffers of n pairs, between which passes alternate, and kSortCounts counts.
template <class Pair>
struct SortMemory {
  Pair* pairs[2];
  int64_t* counts;
};
inline constexpr int kMostSortBlocks = 64;
inline constexpr int64_t kSortCounts = int64_t{256} * kMostSortBlocks;
// The number of counts that a sort with one thread needs.
inline constexpr int64_t kSortCountsAlone = 256;

// Sorts pairs[0], in which pairs of equal keys are in the order of positions. Returns the index of the buffer
// with the result, which does not depend on the number of threads.
template <class Pair>
int SortPairs(const SortMemory<Pair>& memory, int64_t n, int threads) noexcept;

// Sorts at most kFewPairs pairs; the result is in one of the two buffers.
inline constexpr int64_t kFewPairs = 64;
void SortFew(Isa isa, NarrowPair* pairs, int64_t n, NarrowPair* other, NarrowPair** sorted) noexcept;

template <class Pair>
KeyRange RangeOf(const Pair* pairs, int64_t n) noexcept;

// Finds the k least of n pairs, 1 <= k <= n, and returns the greatest of them. All keys lie in `range`.
// `selected` may be nullptr. Otherwise it gets all k in any order. Then pairs of equal keys must come in the
// order of positions, and `pairs` is overwritten.
template <class Pair>
Pair SelectLeast(Pair* pairs, int64_t n, int64_t k, KeyRange range, Pair* selected) noexcept;

}  // namespace portacl::engine
