// Stable sorting and selecting of keys together with the positions that they come from. Radix passes sort them, counts of digits select.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstdint>
#include <limits>

#include "acl/acl_base.h"
#include "acl/isa.h"

namespace portacl::engine {

// Keys are unsigned and ordered as the elements are: -0 as 0, NaN behind all numbers and alike.
bool HasWideKeys(aclDataType dtype) noexcept;
// Whether elements of this dtype have keys: real numbers and bool.
bool HasKeys(aclDataType dtype) noexcept;
// The key of NaN, which no number has; of dtypes without NaN the largest, which then says nothing.
uint64_t NanKey(aclDataType dtype) noexcept;
bool IsFloatKey(aclDataType dtype) noexcept;

// A key and its position as one value. No two of a row are equal, so there is one order of them, whoever sorts: that of the keys, and of
// equal ones that of the positions.
using NarrowWord = uint64_t;  // 32 bits of each
struct WideWord {
  uint64_t key;
  uint64_t position;

  bool operator<(const WideWord& other) const {
    return key < other.key || (key == other.key && position < other.position);
  }
};
inline uint64_t KeyOf(NarrowWord word) { return word >> 32; }
inline int64_t PositionOf(NarrowWord word) { return static_cast<uint32_t>(word); }
inline uint64_t KeyOf(const WideWord& word) { return word.key; }
inline int64_t PositionOf(const WideWord& word) { return static_cast<int64_t>(word.position); }

// Whether n elements need wide words.
inline bool HasWideWords(aclDataType dtype, int64_t n) noexcept {
  return HasWideKeys(dtype) || n > std::numeric_limits<uint32_t>::max();
}

// What turns the order round, so that the greatest come first and NaN before them; equal ones stay in the order of positions.
uint64_t FlippedKeys(aclDataType dtype) noexcept;

struct KeyRange {
  uint64_t least = std::numeric_limits<uint64_t>::max();
  uint64_t most = 0;
};

// The words of n dense elements, whose keys are flipped by `flips`, 0 or FlippedKeys, and whose positions begin at `first`. Returns what
// the keys lie between.
template <class Word>
KeyRange MakeWords(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first, uint64_t flips,
                   Word* words) noexcept;
// The same by several threads, from position 0 on.
template <class Word>
void MakeAllWords(Isa isa, aclDataType dtype, const char* elements, int64_t n, uint64_t flips, int threads,
                  Word* words) noexcept;

// Of n dense elements those with a key less than `below`, as words from words[count] on, until more than most - kFilterStep words
// are there. Returns how many elements were looked at.
inline constexpr int64_t kFilterStep = 64;
template <class Word>
int64_t FilterWords(Isa isa, aclDataType dtype, const char* elements, int64_t n, int64_t first,
                    uint64_t flips, uint64_t below, int64_t most, Word* words, int64_t* count) noexcept;

// What a sort reads and writes: two buffers of n words, so that a pass goes from one to the other, and kSortCounts counts.
template <class Word>
struct SortMemory {
  Word* words[2];
  int64_t* counts;
};
inline constexpr int kMostSortParts = 64;
inline constexpr int64_t kSortCounts = int64_t{256} * kMostSortParts;
// How many of them a sort by one thread needs.
inline constexpr int64_t kSortCountsAlone = 256;

// Sorts words[0], of which those of equal keys are in the order of positions. Returns which of the buffers holds the result. Threads change nothing.
template <class Word>
int SortWords(const SortMemory<Word>& memory, int64_t n, int threads) noexcept;

// Sorts at most kFewWords of them; the result is in one of the two buffers.
inline constexpr int64_t kFewWords = 64;
void SortFew(Isa isa, NarrowWord* words, int64_t n, NarrowWord* other, NarrowWord** sorted) noexcept;

template <class Word>
KeyRange RangeOf(const Word* words, int64_t n) noexcept;

// Finds the k least of n words, 1 <= k <= n, and returns the greatest of them. Unless `chosen` is null it gets all k, in no order but
// that of positions where keys are equal, in which the words have to be, too; they lose it. All keys lie in `range`.
template <class Word>
Word SelectLeast(Word* words, int64_t n, int64_t k, KeyRange range, Word* chosen) noexcept;

}  // namespace portacl::engine
