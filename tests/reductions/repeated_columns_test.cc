// Scans across columns that an operand repeats, in numbers that leave a part of one column behind a tile.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_cummax.h"
#include "aclnnop/aclnn_cumsum.h"
#include "gtest/gtest.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

constexpr int64_t kRows = 5;
constexpr int64_t kRepeats = 255;
constexpr int64_t kShape[] = {kRows, 2, kRepeats};
constexpr int64_t kElements = kRows * 2 * kRepeats;

// x[r][c][k] is r + 10 c + 1, whatever k is.
std::vector<float> Numbers() {
  std::vector<float> numbers;
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < 2; ++column)
      numbers.push_back(static_cast<float>(row + 10 * column + 1));
  }
  return numbers;
}

aclTensor* Repeated(std::vector<float>& numbers) {
  constexpr int64_t kStrides[] = {2, 1, 0};
  const auto storage = static_cast<int64_t>(numbers.size());
  return aclCreateTensor(kShape, 3, ACL_FLOAT, kStrides, 0, ACL_FORMAT_ND, &storage, 1, numbers.data());
}
aclTensor* Dense(aclDataType dtype, void* data) {
  return aclCreateTensor(kShape, 3, dtype, nullptr, 0, ACL_FORMAT_ND, kShape, 3, data);
}

TEST(RepeatedColumns, AreSummedEach) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> numbers = Numbers();
  std::vector<double> sums(kElements);
  aclTensor* const self = Repeated(numbers);
  aclTensor* const out = Dense(ACL_DOUBLE, sums.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnCumsumGetWorkspaceSize(self, 0, ACL_DOUBLE, out, &size, &executor), ACL_SUCCESS);
  std::vector<char> workspace(size + 1);
  ASSERT_EQ(aclnnCumsum(workspace.data(), size, executor, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (int64_t column = 0; column < 2 * kRepeats; ++column) {
    double sum = 0;
    for (int64_t row = 0; row < kRows; ++row) {
      sum += static_cast<double>(row + 10 * (column / kRepeats) + 1);
      EXPECT_EQ(sums[static_cast<size_t>(row * 2 * kRepeats + column)], sum) << row << ", " << column;
    }
  }
  aclDestroyTensor(self);
  aclDestroyTensor(out);
}

TEST(RepeatedColumns, HaveTheirOwnExtremes) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> numbers = Numbers();
  std::vector<float> values(kElements);
  std::vector<int64_t> indices(kElements);
  aclTensor* const self = Repeated(numbers);
  aclTensor* const out = Dense(ACL_FLOAT, values.data());
  aclTensor* const places = Dense(ACL_INT64, indices.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnCummaxGetWorkspaceSize(self, 0, out, places, &size, &executor), ACL_SUCCESS);
  std::vector<char> workspace(size + 1);
  ASSERT_EQ(aclnnCummax(workspace.data(), size, executor, nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  for (int64_t at = 0; at < kElements; ++at) {
    const int64_t row = at / (2 * kRepeats);
    EXPECT_EQ(values[static_cast<size_t>(at)], numbers[static_cast<size_t>(at / kRepeats)]) << at;
    EXPECT_EQ(indices[static_cast<size_t>(at)], row) << at;
  }
  for (aclTensor* one : {self, out, places}) aclDestroyTensor(one);
}

}  // namespace
}  // namespace portacl::testing
