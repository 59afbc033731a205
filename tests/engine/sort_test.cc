// The sort of keys with positions is the stable one, for every number of threads; keys are ordered as the elements are.
// SPDX-License-Identifier: Apache-2.0
#include "engine/sort/sort.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "gtest/gtest.h"
#include "support/random_numbers.h"

namespace portacl::engine {
namespace {

template <class Key, class Position>
void CheckSort(std::vector<Key> keys, int threads) {
  const auto n = keys.size();
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return keys[static_cast<size_t>(a)] < keys[static_cast<size_t>(b)];
  });
  const std::vector<Key> given = keys;
  std::vector<Key> other(n);
  std::vector<Position> positions[2] = {std::vector<Position>(n), std::vector<Position>(n)};
  std::vector<int64_t> counts(kSortCounts);
  const SortMemory<Key, Position> memory{
      {keys.data(), other.data()}, {positions[0].data(), positions[1].data()}, counts.data()};
  const int sorted = SortKeys(memory, static_cast<int64_t>(n), threads);
  for (size_t i = 0; i < n; ++i) {
    ASSERT_EQ(static_cast<int64_t>(positions[sorted][i]), order[i]) << i << " of " << n;
    ASSERT_EQ((sorted == 0 ? keys : other)[i], given[static_cast<size_t>(order[i])]);
  }
}

template <class Key>
void CheckSorts() {
  testing::RandomNumbers random(0x50F7);
  for (const int threads : {1, 2, 7, 100}) {
    for (const size_t n : {size_t{0}, size_t{1}, size_t{2}, size_t{300}, size_t{70000}, size_t{300001}}) {
      for (const int kind : {0, 1, 2, 3, 4}) {
        std::vector<Key> keys(n);
        for (size_t i = 0; i < n; ++i) {
          const auto any = static_cast<Key>(random.Bits());
          keys[i] = kind == 0   ? any
                    : kind == 1 ? static_cast<Key>(any % 5 + (std::numeric_limits<Key>::max() >> 1))
                    : kind == 2 ? static_cast<Key>(i / 3)
                    : kind == 4 ? static_cast<Key>(i % 35000)  // in order in each of two threads' parts
                                : static_cast<Key>(any & 1 ? 0 : std::numeric_limits<Key>::max());
        }
        CheckSort<Key, uint32_t>(keys, threads);
        if (n < 100000) CheckSort<Key, int64_t>(keys, threads);
      }
    }
  }
}

TEST(Sort, IsStable) {
  CheckSorts<NarrowKey>();
  CheckSorts<WideKey>();
}

template <class Key, class T>
void CheckOrder(aclDataType dtype, const std::vector<T>& ascending) {
  std::vector<Key> keys(ascending.size());
  MakeKeys(dtype, reinterpret_cast<const char*>(ascending.data()), static_cast<int64_t>(keys.size()), 2,
           keys.data());
  for (size_t i = 1; i < keys.size(); ++i) EXPECT_LT(keys[i - 1], keys[i]) << dtype << " at " << i;
}

TEST(Sort, KeysAscendWithNumbers) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  CheckOrder<NarrowKey, float>(
      ACL_FLOAT, {-kInf, -2, -1e-45f, -0.0f, 1e-45f, 1, kInf, -std::numeric_limits<float>::quiet_NaN()});
  CheckOrder<WideKey, double>(ACL_DOUBLE,
                              {-1e300, -5e-324, 0, 5e-324, 2, std::numeric_limits<double>::quiet_NaN()});
  CheckOrder<NarrowKey, uint16_t>(ACL_FLOAT16,
                                  {0xFC00, 0xBC00, 0x8001, 0x8000, 0x0001, 0x3C00, 0x7C00, 0xFE00});
  CheckOrder<NarrowKey, uint16_t>(ACL_BF16, {0xFF80, 0xBF80, 0x8001, 0x0000, 0x0001, 0x3F80, 0x7F80, 0x7FC0});
  CheckOrder<NarrowKey, int8_t>(ACL_INT8, {-128, -1, 0, 1, 127});
  CheckOrder<NarrowKey, int16_t>(ACL_INT16, {-32768, -1, 0, 1, 32767});
  CheckOrder<NarrowKey, int32_t>(ACL_INT32, {std::numeric_limits<int32_t>::min(), -1, 0, 1});
  CheckOrder<WideKey, int64_t>(ACL_INT64, {std::numeric_limits<int64_t>::min(), -1, 0, 1});
  CheckOrder<WideKey, uint64_t>(ACL_UINT64, {0, 1, ~uint64_t{0}});
  CheckOrder<NarrowKey, uint32_t>(ACL_UINT32, {0, 1, ~uint32_t{0}});
  CheckOrder<NarrowKey, uint8_t>(ACL_BOOL, {0, 2});
}

}  // namespace
}  // namespace portacl::engine
