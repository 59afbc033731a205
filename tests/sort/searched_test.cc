// Operators that search sequences and count by bins: their checks, and every element against the definitions, one element at a time.
// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "aclnnop/families/sort.h"
#include "gtest/gtest.h"
#include "indexing/index_calls.h"
#include "operators/sorts.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Searched, SearchedOperators());
PORTACL_OPERATOR_TESTS(Counted, CountedOperators());

// More bins than bytes can be counted for.
TEST(Workspace, OfMoreThanCanBeCountedIsRefused) {
  const ScopedEnvironment environment(Variables{});
  const int64_t bins[] = {int64_t{1} << 61}, one[] = {1};
  int8_t element = 1;
  aclTensor* const self = aclCreateTensor(one, 1, ACL_INT8, nullptr, 0, ACL_FORMAT_ND, one, 1, &element);
  aclTensor* const out = aclCreateTensor(bins, 1, ACL_INT8, nullptr, 0, ACL_FORMAT_ND, bins, 1, &element);
  float low = 0, high = 4;
  aclScalar* const least = aclCreateScalar(&low, ACL_FLOAT);
  aclScalar* const most = aclCreateScalar(&high, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  EXPECT_EQ(aclnnHistcGetWorkspaceSize(self, bins[0], least, most, out, &size, &executor), 561101);
  EXPECT_EQ(executor, nullptr);
  for (const aclTensor* tensor : {self, out}) aclDestroyTensor(tensor);
  for (const aclScalar* scalar : {least, most}) aclDestroyScalar(scalar);
}

// A sorter's bad index names something less than every number, and fails the stream once; so does a number that has no bin.
TEST(BadNumbers, AreTold) {
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    std::vector<float> sequence = {1, 2, 3};
    std::vector<float> self = {2};
    std::vector<int64_t> sorter = {0, 7, 2};
    std::vector<int64_t> out = {-1};
    aclTensor* const tensors[] = {Dense({3}, ACL_FLOAT, sequence), Dense({1}, ACL_FLOAT, self),
                                  Dense({3}, ACL_INT64, sorter), Dense({1}, ACL_INT64, out)};
    const Called called = Call(
        [&](uint64_t* size, aclOpExecutor** executor) {
          return aclnnSearchSortedGetWorkspaceSize(tensors[0], tensors[1], false, false, tensors[2],
                                                   tensors[3], size, executor);
        },
        aclnnSearchSorted, environment.stream());
    EXPECT_EQ(called.status, 0);
    EXPECT_EQ(called.first, raises ? 507015 : 0);
    EXPECT_EQ(called.second, 0);
    EXPECT_EQ(
        called.message.find("sorter has the value 7 at position 1, accepted: 0 to 2.") != std::string::npos,
        raises)
        << called.message;
    EXPECT_EQ(out[0], 2);
    for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);

    for (const bool is_weighed : {false, true}) {
      std::vector<int32_t> numbers = {1, 5, -1, 1};
      std::vector<float> weights = {1, 2, 3, 4};
      std::vector<int64_t> counts = {9, 9, 9};
      aclTensor* const counted[] = {Dense({4}, ACL_INT32, numbers), Dense({4}, ACL_FLOAT, weights),
                                    Dense({3}, ACL_INT64, counts)};
      const Called bins = Call(
          [&](uint64_t* size, aclOpExecutor** executor) {
            return aclnnBincountGetWorkspaceSize(counted[0], is_weighed ? counted[1] : nullptr, 3, counted[2],
                                                 size, executor);
          },
          aclnnBincount, environment.stream());
      EXPECT_EQ(bins.status, 0);
      EXPECT_EQ(bins.first, raises ? 507015 : 0);
      EXPECT_EQ(
          bins.message.find("self has the value 5 at position 1, accepted: 0 to 2.") != std::string::npos,
          raises)
          << bins.message;
      EXPECT_EQ(counts, (std::vector<int64_t>{0, is_weighed ? 5 : 2, 0}));
      for (aclTensor* tensor : counted) aclDestroyTensor(tensor);
    }
  }
}

// A scalar is FLOAT before it has the sequence's type, and out gets the shape [1].
TEST(SearchSorteds, OneNumberIsRoundedAndReshapesOut) {
  const ScopedEnvironment environment(Variables{});
  std::vector<int64_t> sequence = {16777216, 16777217, 16777218};
  std::vector<int64_t> out = {-1, -1};
  aclTensor* const tensors[] = {Dense({3}, ACL_INT64, sequence), Dense({2}, ACL_INT64, out)};
  const int64_t number = 16777217;
  aclScalar* const scalar = aclCreateScalar(const_cast<int64_t*>(&number), ACL_INT64);
  const Called called = Call(
      [&](uint64_t* size, aclOpExecutor** executor) {
        return aclnnSearchSortedsGetWorkspaceSize(tensors[0], scalar, false, false, nullptr, tensors[1], size,
                                                  executor);
      },
      aclnnSearchSorteds, environment.stream());
  EXPECT_EQ(called.status, 0) << called.message;
  EXPECT_EQ(out, (std::vector<int64_t>{0, -1}));
  EXPECT_EQ(ViewShapeOf(tensors[1]), Shape{1});
  aclDestroyScalar(scalar);
  for (aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

}  // namespace
}  // namespace portacl::testing
