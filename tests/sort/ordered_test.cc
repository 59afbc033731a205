// Operators that sort along a dim or select from that order: their checks, and every element against a stable sort of numbers.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "aclnnop/families/sort.h"
#include "gtest/gtest.h"
#include "indexing/index_calls.h"
#include "operators/sorts.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Ordered, OrderedOperators());

// Rows that several threads sort together, and what keeps their order.
TEST(LongRows, AreStable) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    RandomNumbers random(0x44444);
    for (const bool descends : {false, true}) {
      std::vector<float> data(200003);
      for (float& x : data) x = static_cast<float>(random.Between(-500, 500)) * 0.5f;
      std::vector<int64_t> order(data.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        const float x = data[static_cast<size_t>(a)];
        const float y = data[static_cast<size_t>(b)];
        return descends ? y < x : x < y;
      });
      std::vector<float> values(data.size());
      std::vector<int64_t> places(data.size());
      const Shape shape = {std::ssize(data)};
      aclTensor* const tensors[] = {Dense(shape, ACL_FLOAT, data), Dense(shape, ACL_FLOAT, values),
                                    Dense(shape, ACL_INT64, places)};
      const Called called = Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnSortGetWorkspaceSize(tensors[0], false, 0, descends, tensors[1], tensors[2], size,
                                             executor);
          },
          aclnnSort, environment.stream());
      EXPECT_EQ(called.status, 0) << called.message;
      EXPECT_TRUE(places == order);
      for (size_t i = 0; i < order.size(); ++i)
        ASSERT_EQ(values[i], data[static_cast<size_t>(order[i])]) << i;
      for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    }
  }
}

// One element that stands for 2^60: what is kept of each would be 2^64 bytes, which is none modulo 2^64.
TEST(Workspace, OfMoreThanCanBeCountedIsRefused) {
  const ScopedEnvironment environment(Variables{});
  const int64_t shape[] = {int64_t{1} << 30, int64_t{1} << 30}, strides[] = {0, 0}, one[] = {1};
  float element = 1;
  aclTensor* const self = aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, one, 1, &element);
  aclTensor* const out =
      aclCreateTensor(nullptr, 0, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, nullptr, 0, &element);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnMedianGetWorkspaceSize(self, out, &size, &executor), 561101);
  EXPECT_EQ(executor, nullptr);
  aclDestroyTensor(self);
  aclDestroyTensor(out);
}

// The very view of self may be the values, in both ways in which rows are shared.
TEST(InPlace, RowsAreSorted) {
  for (const Shape& shape : {Shape{70000}, Shape{300, 100}}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "3"}});
    RandomNumbers random(0x66666);
    std::vector<float> data(static_cast<size_t>(NumElements(shape)));
    for (float& x : data) x = static_cast<float>(random.Between(-900, 900));
    std::vector<float> expected = data;
    for (size_t row = 0; row < data.size(); row += static_cast<size_t>(shape.back()))
      std::sort(expected.begin() + static_cast<std::ptrdiff_t>(row),
                expected.begin() + static_cast<std::ptrdiff_t>(row) + shape.back());
    std::vector<int64_t> places(data.size());
    aclTensor* const tensors[] = {Dense(shape, ACL_FLOAT, data), Dense(shape, ACL_INT64, places)};
    const Called called = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnSortGetWorkspaceSize(tensors[0], true, -1, false, tensors[0], tensors[1], size,
                                           executor);
        },
        aclnnSort, environment.stream());
    EXPECT_EQ(called.status, 0) << called.message;
    EXPECT_TRUE(data == expected);
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
  }
}

// What passes a filter, whatever comes: ascending, descending, all the same, and few that are equal to the last one kept.
TEST(LongRows, FirstOfMany) {
  const ScopedEnvironment environment(Variables{});
  RandomNumbers random(0x55555);
  for (int kind = 0; kind < 5; ++kind) {
    for (const int64_t k : {1, 50, 700, 4000}) {
      std::vector<float> data(32000);
      for (size_t i = 0; i < data.size(); ++i) {
        const auto place = static_cast<float>(i);
        data[i] = kind == 0   ? place
                  : kind == 1 ? -place
                  : kind == 2 ? 7
                  : kind == 3 ? static_cast<float>(random.Below(40))
                              : static_cast<float>(random.Between(-1000000, 1000000));
      }
      std::vector<int64_t> order(data.size());
      for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return data[static_cast<size_t>(b)] < data[static_cast<size_t>(a)];
      });
      order.resize(static_cast<size_t>(k));
      std::vector<float> values(order.size());
      std::vector<int64_t> places(order.size());
      aclTensor* const tensors[] = {Dense({std::ssize(data)}, ACL_FLOAT, data), Dense({k}, ACL_FLOAT, values),
                                    Dense({k}, ACL_INT64, places)};
      const Called called = Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnTopkGetWorkspaceSize(tensors[0], k, 0, true, true, tensors[1], tensors[2], size,
                                             executor);
          },
          aclnnTopk, environment.stream());
      EXPECT_EQ(called.status, 0) << called.message;
      EXPECT_TRUE(places == order) << kind << " " << k;
      for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    }
  }
}

}  // namespace
}  // namespace portacl::testing
