// The sort of keys with positions is the stable one, for every number of threads, and selects what it would; keys are ordered as the
// elements are.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/sort_lines.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>
#include <type_traits>
#include <vector>

#include "gtest/gtest.h"
#include "support/random_numbers.h"

namespace portacl::engine {
namespace {

template <class Word>
Word MakeWord(uint64_t key, size_t position) {
  if constexpr (std::is_same_v<Word, WideWord>) {
    return {key, position};
  } else {
    return key << 32 | position;
  }
}

template <class Word>
std::vector<Word> WordsOf(const std::vector<uint64_t>& keys) {
  std::vector<Word> words;
  for (size_t i = 0; i < keys.size(); ++i) words.push_back(MakeWord<Word>(keys[i], i));
  return words;
}

template <class Word>
void CheckSort(const std::vector<uint64_t>& keys, int threads) {
  const auto n = keys.size();
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  std::vector<Word> words = WordsOf<Word>(keys);
  std::vector<Word> other(n);
  std::vector<int64_t> counts(kSortCounts);
  const SortMemory<Word> memory{{words.data(), other.data()}, counts.data()};
  const Word* const sorted = memory.words[SortWords(memory, static_cast<int64_t>(n), threads)];
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(PositionOf(sorted[i]), order[i]) << i << " of " << n;
    ASSERT_EQ(KeyOf(sorted[i]), keys[static_cast<size_t>(order[i])]);
  }
}

// Keys that are drawn, few, ascending, in order in each of two threads' parts, the two ends, and those that need with the position 64 bits
// and 65.
template <class Word>
std::vector<uint64_t> DrawKeys(size_t n, int kind, testing::RandomNumbers& random) {
  constexpr uint64_t kMost = std::is_same_v<Word, WideWord> ? ~uint64_t{0} : 0xFFFFFFFF;
  const int position_bits = std::bit_width(n == 0 ? 0 : n - 1);
  const uint64_t most_packed = kMost >> position_bits;
  std::vector<uint64_t> keys(n);
  for (size_t i = 0; i < n; ++i) {
    const uint64_t any = random.Bits() & kMost;
    keys[i] = kind == 0   ? any
              : kind == 1 ? any % 5 + (kMost >> 1)
              : kind == 2 ? i / 3
              : kind == 4 ? i % 35000
              : kind == 5 ? (i == 0 ? most_packed : any & most_packed) + kMost / 9
              : kind == 6 ? (i == 0 ? 2 * most_packed + 1 : any & most_packed) + kMost / 9
                          : ((any & 1) != 0 ? 0 : kMost);
    keys[i] &= kMost;
  }
  return keys;
}

template <class Word>
void CheckSorts() {
  testing::RandomNumbers random(0x50F7);
  for (const int threads : {1, 2, 7, 100}) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{64}, size_t{65}, size_t{300},
                           size_t{70000}, size_t{300001}}) {
      for (const int kind : {0, 1, 2, 3, 4, 5, 6}) CheckSort<Word>(DrawKeys<Word>(n, kind, random), threads);
    }
  }
}

TEST(Sort, IsStable) {
  CheckSorts<NarrowWord>();
  CheckSorts<WideWord>();
}

// The least words are chosen, and those of equal keys stay in the order of positions.
template <class Word>
void CheckSelections() {
  testing::RandomNumbers random(0x5E1);
  for (const size_t n : {size_t{1}, size_t{2}, size_t{512}, size_t{513}, size_t{5000}, size_t{70000}}) {
    for (const int kind : {0, 1, 2, 3, 4}) {
      const std::vector<uint64_t> keys = DrawKeys<Word>(n, kind, random);
      std::vector<Word> sorted = WordsOf<Word>(keys);
      std::sort(sorted.begin(), sorted.end());
      const KeyRange range{KeyOf(sorted.front()), KeyOf(sorted.back())};
      for (const size_t k : {size_t{1}, n / 2 + 1, n}) {
        std::vector<Word> words = WordsOf<Word>(keys);
        std::vector<Word> chosen(k);
        const Word last =
            SelectLeast(words.data(), static_cast<int64_t>(n), static_cast<int64_t>(k), range, chosen.data());
        ASSERT_EQ(PositionOf(last), PositionOf(sorted[k - 1])) << k << " of " << n;
        std::stable_sort(chosen.begin(), chosen.end(),
                         [](const Word& a, const Word& b) { return KeyOf(a) < KeyOf(b); });
        for (size_t i = 0; i < k; ++i)
          ASSERT_EQ(PositionOf(chosen[i]), PositionOf(sorted[i])) << k << " of " << n;
        words = WordsOf<Word>(keys);
        const Word one =
            SelectLeast<Word>(words.data(), static_cast<int64_t>(n), static_cast<int64_t>(k), range, nullptr);
        ASSERT_EQ(PositionOf(one), PositionOf(last));
      }
    }
  }
}

TEST(Select, FindsTheLeast) {
  CheckSelections<NarrowWord>();
  CheckSelections<WideWord>();
}

template <class Word, class T>
void CheckOrder(aclDataType dtype, const std::vector<T>& ascending) {
  const auto n = std::ssize(ascending);
  const auto* const elements = reinterpret_cast<const char*>(ascending.data());
  for (const Isa isa : SupportedIsas()) {
    for (const uint64_t flips : {uint64_t{0}, FlippedKeys(dtype)}) {
      std::vector<Word> words(ascending.size());
      MakeAllWords(isa, dtype, elements, n, flips, 2, words.data());
      for (size_t i = 1; i < words.size(); ++i) {
        EXPECT_EQ(flips == 0, KeyOf(words[i - 1]) < KeyOf(words[i])) << dtype << " at " << i;
        EXPECT_NE(KeyOf(words[i - 1]), KeyOf(words[i])) << dtype << " at " << i;
        EXPECT_EQ(PositionOf(words[i]), static_cast<int64_t>(i));
      }
      // What is below the last one is all but that.
      std::vector<Word> found(ascending.size() + kFilterStep);
      int64_t count = 0;
      const uint64_t below = KeyOf(flips == 0 ? words.back() : words.front());
      EXPECT_EQ(
          FilterWords(isa, dtype, elements, n, 0, flips, below, std::ssize(found), found.data(), &count), n);
      EXPECT_EQ(count, n - 1);
      EXPECT_EQ(PositionOf(found[0]), flips == 0 ? 0 : 1);
    }
  }
}

TEST(Sort, KeysAscendWithNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  CheckOrder<NarrowWord, float>(
      ACL_FLOAT, {-kInf, -2, -1e-45f, -0.0f, 1e-45f, 1, kInf, -std::numeric_limits<float>::quiet_NaN()});
  CheckOrder<WideWord, double>(ACL_DOUBLE,
                               {-1e300, -5e-324, 0, 5e-324, 2, std::numeric_limits<double>::quiet_NaN()});
  CheckOrder<NarrowWord, uint16_t>(ACL_FLOAT16,
                                   {0xFC00, 0xBC00, 0x8001, 0x8000, 0x0001, 0x3C00, 0x7C00, 0xFE00});
  CheckOrder<NarrowWord, uint16_t>(ACL_BF16,
                                   {0xFF80, 0xBF80, 0x8001, 0x0000, 0x0001, 0x3F80, 0x7F80, 0x7FC0});
  CheckOrder<NarrowWord, int8_t>(ACL_INT8, {-128, -1, 0, 1, 127});
  CheckOrder<NarrowWord, int16_t>(ACL_INT16, {-32768, -1, 0, 1, 32767});
  CheckOrder<NarrowWord, int32_t>(ACL_INT32, {std::numeric_limits<int32_t>::min(), -1, 0, 1});
  CheckOrder<WideWord, int64_t>(ACL_INT64, {std::numeric_limits<int64_t>::min(), -1, 0, 1});
  CheckOrder<WideWord, uint64_t>(ACL_UINT64, {0, 1, ~uint64_t{0}});
  CheckOrder<NarrowWord, uint32_t>(ACL_UINT32, {0, 1, ~uint32_t{0}});
  CheckOrder<NarrowWord, uint8_t>(ACL_BOOL, {0, 2});
}

}  // namespace
}  // namespace portacl::engine
