// Stable radix sort and selection (see sort.h). Each part of the words is counted by digit; then every part knows where its words of each
// digit go.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/sort.h"

#include <algorithm>
#include <cstring>

#include "engine/parallel.h"

namespace portacl::engine {
namespace {

constexpr int kDigitBits = 8;
constexpr int kDigits = 1 << kDigitBits;
// Fewer words than these are not worth another thread.
constexpr int64_t kWorthPart = 32768;
// As many and fewer are compared instead of counted.
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

template <class Word>
void MakeAllWords(Isa isa, aclDataType dtype, const char* elements, int64_t n, uint64_t flips, int threads,
                  Word* words) noexcept {
  const auto size = static_cast<int64_t>(aclDataTypeSize(dtype));
  ForEachBlock((n + kWorthPart - 1) / kWorthPart, threads, [&](int64_t block) {
    const int64_t first = block * kWorthPart;
    MakeWords(isa, dtype, elements + first * size, std::min(n - first, kWorthPart), first, flips,
              words + first);
  });
}

template <class Word>
int SortWords(const SortMemory<Word>& memory, int64_t n, int threads) noexcept {
  if (n <= kFewToSort) {
    std::sort(memory.words[0], memory.words[0] + n);
    return 0;
  }
  const auto parts =
      static_cast<int>(std::clamp<int64_t>(n / kWorthPart, 1, std::clamp(threads, 1, kMostSortParts)));
  const int64_t share = (n + parts - 1) / parts;
  const auto of_part = [&](int64_t part, const auto& body) {
    const int64_t end = std::min(n, (part + 1) * share);
    for (int64_t i = part * share; i < end; ++i) body(i);
  };
  // Digits are those of the distance to the least key: small numbers have few, whatever their signs.
  KeyRange ranges[kMostSortParts];
  bool is_sorted[kMostSortParts];
  ForEachBlock(parts, threads, [&](int64_t part) {
    const Word* const words = memory.words[0];
    KeyRange range;
    uint64_t last = part == 0 ? 0 : KeyOf(words[part * share - 1]);
    bool ascends = true;
    of_part(part, [&](int64_t i) {
      const uint64_t key = KeyOf(words[i]);
      range.least = std::min(range.least, key);
      range.most = std::max(range.most, key);
      ascends &= last <= key;
      last = key;
    });
    ranges[part] = range;
    is_sorted[part] = ascends;
  });
  if (std::all_of(is_sorted, is_sorted + parts, [](bool one) { return one; })) return 0;
  uint64_t low = ranges[0].least;
  uint64_t high = ranges[0].most;
  for (int part = 1; part < parts; ++part) {
    low = std::min(low, ranges[part].least);
    high = std::max(high, ranges[part].most);
  }
  const uint64_t range = high - low;
  int from = 0;
  for (int shift = 0; shift < 64 && range >> shift != 0; shift += kDigitBits) {
    const Word* const words = memory.words[from];
    Word* const to = memory.words[1 - from];
    const auto digit = [low, shift](const Word& word) {
      return static_cast<size_t>((KeyOf(word) - low) >> shift) & (kDigits - 1);
    };
    ForEachBlock(parts, threads, [&](int64_t part) {
      int64_t counts[kDigits] = {};
      of_part(part, [&](int64_t i) { ++counts[digit(words[i])]; });
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
      of_part(part, [&](int64_t i) { to[next[digit(words[i])]++] = words[i]; });
    });
    from = 1 - from;
  }
  return from;
}

template <class Word>
KeyRange RangeOf(const Word* words, int64_t n) noexcept {
  KeyRange range;
  for (int64_t i = 0; i < n; ++i) {
    range.least = std::min(range.least, KeyOf(words[i]));
    range.most = std::max(range.most, KeyOf(words[i]));
  }
  return range;
}

template <class Word>
Word SelectLeast(Word* words, int64_t n, int64_t k, KeyRange range, Word* chosen) noexcept {
  while (true) {
    const auto ends = [&] {
      if (chosen != nullptr) std::copy_n(words, k, chosen);
      return words[k - 1];
    };
    if (n <= kFewToSelect) {
      std::nth_element(words, words + k - 1, words + n);
      if (chosen != nullptr) std::sort(words, words + k);
      return ends();
    }
    if (range.least == range.most) return ends();
    const uint64_t low = range.least;
    const int shift = std::max(0, static_cast<int>(std::bit_width(range.most - low)) - kSelectBits);
    const auto digit = [low, shift](const Word& word) {
      return static_cast<size_t>((KeyOf(word) - low) >> shift);
    };
    int64_t counts[1 << kSelectBits] = {};
    for (int64_t i = 0; i < n; ++i) ++counts[digit(words[i])];
    size_t last = 0;  // the digit of the greatest one that is chosen
    int64_t before = 0;
    while (before + counts[last] < k) before += counts[last++];
    int64_t left = 0;
    if (chosen == nullptr) {
      for (int64_t i = 0; i < n; ++i) {
        const Word word = words[i];
        words[left] = word;  // overwritten unless it is of that digit
        left += digit(word) == last ? 1 : 0;
      }
    } else {
      // The same of what comes before: nothing is written behind the k that are chosen.
      int64_t found = 0;
      for (int64_t i = 0; i < n; ++i) {
        const Word word = words[i];
        const size_t one = digit(word);
        chosen[found] = word;
        found += one < last ? 1 : 0;
        words[left] = word;
        left += one == last ? 1 : 0;
      }
      chosen += before;
    }
    n = left;
    k -= before;
    range = RangeOf(words, n);
  }
}

template void MakeAllWords(Isa, aclDataType, const char*, int64_t, uint64_t, int, NarrowWord*) noexcept;
template void MakeAllWords(Isa, aclDataType, const char*, int64_t, uint64_t, int, WideWord*) noexcept;
template int SortWords(const SortMemory<NarrowWord>&, int64_t, int) noexcept;
template int SortWords(const SortMemory<WideWord>&, int64_t, int) noexcept;
template KeyRange RangeOf(const NarrowWord*, int64_t) noexcept;
template KeyRange RangeOf(const WideWord*, int64_t) noexcept;
template NarrowWord SelectLeast(NarrowWord*, int64_t, int64_t, KeyRange, NarrowWord*) noexcept;
template WideWord SelectLeast(WideWord*, int64_t, int64_t, KeyRange, WideWord*) noexcept;

}  // namespace portacl::engine
