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

template <class Pair>
Pair MakeWord(uint64_t key, size_t position) {
  if constexpr (std::is_same_v<Pair, WidePair>) {
    return {key, position};
  } else {
    return key << 32 | position;
  }
}

template <class Pair>
std::vector<Pair> WordsOf(const std::vector<uint64_t>& keys) {
  std::vector<Pair> pairs;
  for (size_t i = 0; i < keys.size(); ++i) pairs.push_back(MakeWord<Pair>(keys[i], i));
  return pairs;
}

template <class Pair>
void CheckSort(const std::vector<uint64_t>& keys, int threads) {
  const auto n = keys.size();
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  std::vector<Pair> pairs = WordsOf<Pair>(keys);
  std::vector<Pair> other(n);
  std::vector<int64_t> counts(kSortCounts);
  const SortMemory<Pair> memory{{pairs.data(), other.data()}, counts.data()};
  const Pair* const sorted = memory.pairs[SortPairs(memory, static_cast<int64_t>(n), threads)];
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(PositionOf(sorted[i]), order[i]) << i << " of " << n;
    ASSERT_EQ(KeyOf(sorted[i]), keys[static_cast<size_t>(order[i])]);
  }
}

// Keys that are drawn, few, ascending, in order in each of two threads' parts, the two ends, and those that need with the position 64 bits
// and 65.
template <class Pair>
std::vector<uint64_t> DrawKeys(size_t n, int kind, testing::RandomNumbers& random) {
  constexpr uint64_t kMost = std::is_same_v<Pair, WidePair> ? ~uint64_t{0} : 0xFFFFFFFF;
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

template <class Pair>
void CheckSorts() {
  testing::RandomNumbers random(0x50F7);
  for (const int threads : {1, 2, 7, 100}) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{64}, size_t{65}, size_t{300},
                           size_t{70000}, size_t{300001}}) {
      for (const int kind : {0, 1, 2, 3, 4, 5, 6}) CheckSort<Pair>(DrawKeys<Pair>(n, kind, random), threads);
    }
  }
}

TEST(Sort, IsStable) {
  CheckSorts<NarrowPair>();
  CheckSorts<WidePair>();
}

// The least words are chosen, and those of equal keys stay in the order of positions.
template <class Pair>
void CheckSelections() {
  testing::RandomNumbers random(0x5E1);
  for (const size_t n : {size_t{1}, size_t{2}, size_t{512}, size_t{513}, size_t{5000}, size_t{70000}}) {
    for (const int kind : {0, 1, 2, 3, 4}) {
      const std::vector<uint64_t> keys = DrawKeys<Pair>(n, kind, random);
      std::vector<Pair> sorted = WordsOf<Pair>(keys);
      std::sort(sorted.begin(), sorted.end());
      const KeyRange range{KeyOf(sorted.front()), KeyOf(sorted.back())};
      for (const size_t k : {size_t{1}, n / 2 + 1, n}) {
        std::vector<Pair> pairs = WordsOf<Pair>(keys);
        std::vector<Pair> chosen(k);
        const Pair last =
            SelectLeast(pairs.data(), static_cast<int64_t>(n), static_cast<int64_t>(k), range, chosen.data());
        ASSERT_EQ(PositionOf(last), PositionOf(sorted[k - 1])) << k << " of " << n;
        std::stable_sort(chosen.begin(), chosen.end(),
                         [](const Pair& a, const Pair& b) { return KeyOf(a) < KeyOf(b); });
        for (size_t i = 0; i < k; ++i)
          ASSERT_EQ(PositionOf(chosen[i]), PositionOf(sorted[i])) << k << " of " << n;
        pairs = WordsOf<Pair>(keys);
        const Pair one =
            SelectLeast<Pair>(pairs.data(), static_cast<int64_t>(n), static_cast<int64_t>(k), range, nullptr);
        ASSERT_EQ(PositionOf(one), PositionOf(last));
      }
    }
  }
}

TEST(Select, FindsTheLeast) {
  CheckSelections<NarrowPair>();
  CheckSelections<WidePair>();
}

template <class Pair, class T>
void CheckOrder(aclDataType dtype, const std::vector<T>& ascending) {
  const auto n = std::ssize(ascending);
  const auto* const elements = reinterpret_cast<const char*>(ascending.data());
  for (const Isa isa : SupportedIsas()) {
    for (const uint64_t flips : {uint64_t{0}, FlippedKeys(dtype)}) {
      std::vector<Pair> pairs(ascending.size());
      MakeAllPairs(isa, dtype, elements, n, flips, 2, pairs.data());
      for (size_t i = 1; i < pairs.size(); ++i) {
        EXPECT_EQ(flips == 0, KeyOf(pairs[i - 1]) < KeyOf(pairs[i])) << dtype << " at " << i;
        EXPECT_NE(KeyOf(pairs[i - 1]), KeyOf(pairs[i])) << dtype << " at " << i;
        EXPECT_EQ(PositionOf(pairs[i]), static_cast<int64_t>(i));
      }
      // What is below the last one is all but that.
      std::vector<Pair> found(ascending.size() + kFilterStep);
      int64_t count = 0;
      const uint64_t below = KeyOf(flips == 0 ? pairs.back() : pairs.front());
      EXPECT_EQ(
          FilterPairs(isa, dtype, elements, n, 0, flips, below, std::ssize(found), found.data(), &count), n);
      EXPECT_EQ(count, n - 1);
      EXPECT_EQ(PositionOf(found[0]), flips == 0 ? 0 : 1);
    }
  }
}

TEST(Sort, KeysAscendWithNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  CheckOrder<NarrowPair, float>(
      ACL_FLOAT, {-kInf, -2, -1e-45f, -0.0f, 1e-45f, 1, kInf, -std::numeric_limits<float>::quiet_NaN()});
  CheckOrder<WidePair, double>(ACL_DOUBLE,
                               {-1e300, -5e-324, 0, 5e-324, 2, std::numeric_limits<double>::quiet_NaN()});
  CheckOrder<NarrowPair, uint16_t>(ACL_FLOAT16,
                                   {0xFC00, 0xBC00, 0x8001, 0x8000, 0x0001, 0x3C00, 0x7C00, 0xFE00});
  CheckOrder<NarrowPair, uint16_t>(ACL_BF16,
                                   {0xFF80, 0xBF80, 0x8001, 0x0000, 0x0001, 0x3F80, 0x7F80, 0x7FC0});
  CheckOrder<NarrowPair, int8_t>(ACL_INT8, {-128, -1, 0, 1, 127});
  CheckOrder<NarrowPair, int16_t>(ACL_INT16, {-32768, -1, 0, 1, 32767});
  CheckOrder<NarrowPair, int32_t>(ACL_INT32, {std::numeric_limits<int32_t>::min(), -1, 0, 1});
  CheckOrder<WidePair, int64_t>(ACL_INT64, {std::numeric_limits<int64_t>::min(), -1, 0, 1});
  CheckOrder<WidePair, uint64_t>(ACL_UINT64, {0, 1, ~uint64_t{0}});
  CheckOrder<NarrowPair, uint32_t>(ACL_UINT32, {0, 1, ~uint32_t{0}});
  CheckOrder<NarrowPair, uint8_t>(ACL_BOOL, {0, 2});
}

}  // namespace
}  // namespace portacl::engine
