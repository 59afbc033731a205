// Stable radix sort and selection (see sort_lines.h). Each block of the key-index pairs is counted by digit,
// which gives the destinations of its pairs.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/sort_lines.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <type_traits>

#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
// Fewer pairs are not worth another thread.
constexpr int64_t kFewestPerBlock = 32768;
// Up to this many are sorted by comparison instead of counting.
constexpr int64_t kFewToSort = 64;
constexpr int64_t kFewToSelect = 512;

constexpr int kSelectBits = 11;

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
  return FlippedKeys(dtype);
}

uint64_t FlippedKeys(aclDataType dtype) noexcept {
  return HasWideKeys(dtype) ? std::numeric_limits<uint64_t>::max() : std::numeric_limits<uint32_t>::max();
}

template <class Pair>
void MakeAllPairs(Isa isa, aclDataType dtype, const char* elements, int64_t n, uint64_t flips, int threads,
                  Pair* pairs) noexcept {
  const auto size = static_cast<int64_t>(aclDataTypeSize(dtype));
  ForEachBlock((n + kFewestPerBlock - 1) / kFewestPerBlock, threads, [&](int64_t block) {
    const int64_t first = block * kFewestPerBlock;
    MakePairs(isa, dtype, elements + first * size, std::min(n - first, kFewestPerBlock), first, flips,
              pairs + first);
  });
}

namespace {

// Divides the pairs among threads.
struct PairBlocks {
  int64_t n;
  int count;
  int threads;

  template <class Body>
  void ForEach(const Body& body) const {
    const int64_t thread_block = (n + count - 1) / count;
    ForEachBlock(count, threads, [&](int64_t block) {
      body(block, std::min(n, block * thread_block), std::min(n, (block + 1) * thread_block));
    });
  }
};

// Sorts by the digits of numbers up to `range`, the lowest digit first. digit(pair, shift) returns the digit
// from bit `shift` on.
template <class Pair, class Digit>
int SortByDigits(Pair* const (&pairs)[2], int64_t* counts, const PairBlocks& blocks, uint64_t range,
                 const Digit& digit) noexcept {
  int from = 0;
  for (int shift = 0; shift < 64 && range >> shift != 0; shift += kDigitBits) {
    const Pair* const source = pairs[from];
    Pair* const to = pairs[1 - from];
    blocks.ForEach([&](int64_t block, int64_t begin, int64_t end) {
      int64_t found[kDigits] = {};
      for (int64_t i = begin; i < end; ++i) ++found[digit(source[i], shift)];
      std::copy(found, found + kDigits, counts + block * kDigits);
    });
    int64_t sum = 0;
    for (int one = 0; one < kDigits; ++one) {
      for (int block = 0; block < blocks.count; ++block) {
        const int64_t count = counts[block * kDigits + one];
        counts[block * kDigits + one] = sum;
        sum += count;
      }
    }
    blocks.ForEach([&](int64_t block, int64_t begin, int64_t end) {
      int64_t next[kDigits];
      std::copy_n(counts + block * kDigits, kDigits, next);
      for (int64_t i = begin; i < end; ++i) to[next[digit(source[i], shift)]++] = source[i];
    });
    from = 1 - from;
  }
  return from;
}

size_t DigitAt(uint64_t bits, int shift) { return static_cast<size_t>(bits >> shift) & (kDigits - 1); }

// Sorts wide pairs whose keys are close together. Key and position are packed into one number, which halves
// the moved bytes.
int SortPacked(const SortMemory<WidePair>& memory, const PairBlocks& blocks, uint64_t low, uint64_t range,
               int position_bits) noexcept {
  auto* const first = reinterpret_cast<uint64_t*>(memory.pairs[1]);
  uint64_t* const packed[2] = {first, first + blocks.n};
  WidePair* const pairs = memory.pairs[0];
  blocks.ForEach([&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      first[i] = (pairs[i].key - low) << position_bits | pairs[i].position;
  });
  const uint64_t* const sorted =
      packed[SortByDigits(packed, memory.counts, blocks, range, [position_bits](uint64_t pair, int shift) {
        return DigitAt(pair >> position_bits, shift);
      })];
  const uint64_t positions = (uint64_t{1} << position_bits) - 1;
  blocks.ForEach([&](int64_t, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      pairs[i] = {(sorted[i] >> position_bits) + low, sorted[i] & positions};
  });
  return 0;
}

}  // namespace

template <class Pair>
int SortPairs(const SortMemory<Pair>& memory, int64_t n, int threads) noexcept {
  if (n <= kFewToSort) {
    std::sort(memory.pairs[0], memory.pairs[0] + n);
    return 0;
  }
  const PairBlocks blocks{
      n,
      static_cast<int>(std::clamp<int64_t>(n / kFewestPerBlock, 1, std::clamp(threads, 1, kMostSortBlocks))),
      threads};
  // Digits are those of the difference to the least key, so that small numbers of either sign have few.
  struct Found {
    KeyRange keys;
    uint64_t positions = 0;  // all position bits, ORed
    bool ascends = true;
  };
  Found found[kMostSortBlocks];
  blocks.ForEach([&](int64_t block, int64_t begin, int64_t end) {
    const Pair* const pairs = memory.pairs[0];
    Found one;
    uint64_t last = begin == 0 || begin == end ? 0 : KeyOf(pairs[begin - 1]);
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t key = KeyOf(pairs[i]);
      one.keys.least = std::min(one.keys.least, key);
      one.keys.most = std::max(one.keys.most, key);
      one.positions |= static_cast<uint64_t>(PositionOf(pairs[i]));
      one.ascends &= last <= key;
      last = key;
    }
    found[block] = one;
  });
  Found all = found[0];
  for (int block = 1; block < blocks.count; ++block) {
    all.keys.least = std::min(all.keys.least, found[block].keys.least);
    all.keys.most = std::max(all.keys.most, found[block].keys.most);
    all.positions |= found[block].positions;
    all.ascends &= found[block].ascends;
  }
  if (all.ascends) return 0;
  const uint64_t low = all.keys.least;
  const uint64_t range = all.keys.most - low;
  if constexpr (std::is_same_v<Pair, WidePair>) {
    const int position_bits = std::bit_width(all.positions);
    if (position_bits + std::bit_width(range) <= 64)
      return SortPacked(memory, blocks, low, range, position_bits);
  }
  return SortByDigits(memory.pairs, memory.counts, blocks, range,
                      [low](const Pair& pair, int shift) { return DigitAt(KeyOf(pair) - low, shift); });
}

template <class Pair>
KeyRange RangeOf(const Pair* pairs, int64_t n) noexcept {
  KeyRange range;
  for (int64_t i = 0; i < n; ++i) {
    range.least = std::min(range.least, KeyOf(pairs[i]));
    range.most = std::max(range.most, KeyOf(pairs[i]));
  }
  return range;
}

template <class Pair>
Pair SelectLeast(Pair* pairs, int64_t n, int64_t k, KeyRange range, Pair* selected) noexcept {
  while (true) {
    const auto ends = [&] {
      if (selected != nullptr) std::copy_n(pairs, k, selected);
      return pairs[k - 1];
    };
    if (n <= kFewToSelect) {
      std::nth_element(pairs, pairs + k - 1, pairs + n);
      if (selected != nullptr) std::sort(pairs, pairs + k);
      return ends();
    }
    if (range.least == range.most) return ends();
    const uint64_t low = range.least;
    const int shift = std::max(0, static_cast<int>(std::bit_width(range.most - low)) - kSelectBits);
    const auto digit = [low, shift](const Pair& pair) {
      return static_cast<size_t>((KeyOf(pair) - low) >> shift);
    };
    int64_t counts[1 << kSelectBits] = {};
    for (int64_t i = 0; i < n; ++i) ++counts[digit(pairs[i])];
    size_t last = 0;  // the digit of the k-th pair
    int64_t before = 0;
    while (before + counts[last] < k) before += counts[last++];
    int64_t left = 0;
    if (selected == nullptr) {
      for (int64_t i = 0; i < n; ++i) {
        const Pair pair = pairs[i];
        pairs[left] = pair;  // overwritten by the next unless it has that digit
        left += digit(pair) == last ? 1 : 0;
      }
    } else {
      // Does the same with `selected`, which takes the pairs of smaller digits. Nothing is written after k of
      // them.
      int64_t found = 0;
      for (int64_t i = 0; i < n; ++i) {
        const Pair pair = pairs[i];
        const size_t one = digit(pair);
        selected[found] = pair;
        found += one < last ? 1 : 0;
        pairs[left] = pair;
        left += one == last ? 1 : 0;
      }
      selected += before;
    }
    n = left;
    k -= before;
    range = RangeOf(pairs, n);
  }
}

template void MakeAllPairs(Isa, aclDataType, const char*, int64_t, uint64_t, int, NarrowPair*) noexcept;
template void MakeAllPairs(Isa, aclDataType, const char*, int64_t, uint64_t, int, WidePair*) noexcept;
template int SortPairs(const SortMemory<NarrowPair>&, int64_t, int) noexcept;
template int SortPairs(const SortMemory<WidePair>&, int64_t, int) noexcept;
template KeyRange RangeOf(const NarrowPair*, int64_t) noexcept;
template KeyRange RangeOf(const WidePair*, int64_t) noexcept;
template NarrowPair SelectLeast(NarrowPair*, int64_t, int64_t, KeyRange, NarrowPair*) noexcept;
template WidePair SelectLeast(WidePair*, int64_t, int64_t, KeyRange, WidePair*) noexcept;

}  // namespace portacl::engine
