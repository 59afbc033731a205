// That a row's bits depend on nothing but the row: not on rows beside it, nor on how it lies in memory, nor on whether it is held as a whole.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "aclnnop/families/norm.h"
#include "gtest/gtest.h"
#include "support/environment.h"
#include "support/random_numbers.h"
#include "support/shapes.h"

namespace portacl::testing {
namespace {

enum class Operator { kSoftmax, kLogSoftmax, kSoftmaxBackward, kLogSoftmaxBackward, kLayerNorm };

// FLOAT, or the upper halves of FLOAT, which are BF16.
template <class T>
aclTensor* Tensor(const Shape& shape, const Shape& strides, std::span<T> data) {
  const auto size = static_cast<int64_t>(data.size());
  return aclCreateTensor(shape.data(), shape.size(), sizeof(T) == 2 ? ACL_BF16 : ACL_FLOAT, strides.data(), 0,
                         ACL_FORMAT_ND, &size, 1, data.data());
}

// Rows of n elements, `step` elements apart from row to row and `pace` within a row, in the order of memory. A gradient has what it
// differentiates as both inputs.
template <class T>
std::vector<T> Result(Operator which, int64_t rows, int64_t n, int64_t step, int64_t pace, std::vector<T> x,
                      aclrtStream stream) {
  // Begins with a cache line, so that large results go past the caches.
  constexpr size_t kOfLine = 64 / sizeof(T);
  std::vector<T> memory(x.size() + kOfLine);
  const size_t behind_line = reinterpret_cast<uintptr_t>(memory.data()) % 64 / sizeof(T);
  const std::span<T> result(&memory[(kOfLine - behind_line) % kOfLine], x.size());
  aclTensor* const in = Tensor<T>({rows, n}, {step, pace}, x);
  aclTensor* const out = Tensor<T>({rows, n}, {step, pace}, result);
  aclIntArray* const shape = aclCreateIntArray(&n, 1);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  switch (which) {
    case Operator::kSoftmax:
      EXPECT_EQ(aclnnSoftmaxGetWorkspaceSize(in, 1, out, &size, &executor), 0);
      EXPECT_EQ(aclnnSoftmax(nullptr, 0, executor, stream), 0);
      break;
    case Operator::kLogSoftmax:
      EXPECT_EQ(aclnnLogSoftmaxGetWorkspaceSize(in, 1, out, &size, &executor), 0);
      EXPECT_EQ(aclnnLogSoftmax(nullptr, 0, executor, stream), 0);
      break;
    case Operator::kSoftmaxBackward:
      EXPECT_EQ(aclnnSoftmaxBackwardGetWorkspaceSize(in, in, 1, out, &size, &executor), 0);
      EXPECT_EQ(aclnnSoftmaxBackward(nullptr, 0, executor, stream), 0);
      break;
    case Operator::kLogSoftmaxBackward:
      EXPECT_EQ(aclnnLogSoftmaxBackwardGetWorkspaceSize(in, in, 1, out, &size, &executor), 0);
      EXPECT_EQ(aclnnLogSoftmaxBackward(nullptr, 0, executor, stream), 0);
      break;
    case Operator::kLayerNorm:
      EXPECT_EQ(aclnnLayerNormGetWorkspaceSize(in, shape, nullptr, nullptr, 1e-5, out, nullptr, nullptr,
                                               &size, &executor),
                0);
      EXPECT_EQ(aclnnLayerNorm(nullptr, 0, executor, stream), 0);
      break;
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream), 0);
  aclDestroyTensor(in);
  aclDestroyTensor(out);
  aclDestroyIntArray(shape);
  return {result.begin(), result.end()};
}

template <class T>
std::vector<T> Drawn(int64_t count, RandomNumbers& random) {
  std::vector<T> x(static_cast<size_t>(count));
  for (T& one : x) {
    const float number = static_cast<float>(random.Between(-4000, 4000)) / 512;
    std::memcpy(&one, reinterpret_cast<const char*>(&number) + sizeof number - sizeof one, sizeof one);
  }
  return x;
}

// Computes all rows together, also such that lie across, and one of `every` rows alone.
template <class T>
void CheckRows(int64_t rows, int64_t n, aclrtStream stream, int64_t every = 1) {
  RandomNumbers random(static_cast<uint64_t>(n));
  const std::vector<T> x = Drawn<T>(rows * n, random);
  std::vector<T> across(x.size());
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i)
      across[static_cast<size_t>(i * rows + r)] = x[static_cast<size_t>(r * n + i)];
  }
  for (const Operator which : {Operator::kSoftmax, Operator::kLogSoftmax, Operator::kSoftmaxBackward,
                               Operator::kLogSoftmaxBackward, Operator::kLayerNorm}) {
    const std::vector<T> together = Result<T>(which, rows, n, n, 1, x, stream);
    const std::vector<T> turned = Result<T>(which, rows, n, 1, rows, across, stream);
    int64_t differ = 0;
    for (int64_t r = 0; r < rows; ++r) {
      for (int64_t i = 0; i < n; ++i)
        differ += std::memcmp(&together[static_cast<size_t>(r * n + i)],
                              &turned[static_cast<size_t>(i * rows + r)], sizeof(T)) != 0;
      if (r % every != 0) continue;
      const auto at = x.begin() + r * n;
      const std::vector<T> alone = Result<T>(which, 1, n, n, 1, std::vector<T>(at, at + n), stream);
      differ += std::memcmp(alone.data(), &together[static_cast<size_t>(r * n)],
                            static_cast<size_t>(n) * sizeof(T)) != 0;
    }
    EXPECT_EQ(differ, 0) << rows << " rows of " << n << ", operator " << static_cast<int>(which) << ", "
                         << sizeof(T) << " bytes";
  }
}

TEST(Alone, RowsHaveTheSameBits) {
  for (const char* threads : {"1", "3"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    for (const int64_t n : {1, 7, 15, 16, 17, 31, 63, 64, 65, 127, 1000, 4096, 4097, 9001})
      CheckRows<float>(21, n, environment.stream());
    // Rows that lie across: one vector of them, several, and one more than vectors hold; several tiles.
    for (const int64_t rows : {15, 16, 47, 300}) {
      for (const int64_t n : {2, 5, 64, 131}) {
        CheckRows<float>(rows, n, environment.stream());
        CheckRows<uint16_t>(rows, n, environment.stream());
      }
    }
    CheckRows<uint16_t>(97, 4100, environment.stream());
    // Rows that lie across and are copied, and those that leave no room for copies.
    CheckRows<float>(80, 3000, environment.stream());
    CheckRows<uint16_t>(80, 5000, environment.stream());
    CheckRows<float>(80, 9001, environment.stream());
    CheckRows<uint16_t>(80, 18001, environment.stream());
  }
}

// Rows so long that no sixteen of them fit a thread's memory, of which threads get groups, and outputs cut them.
TEST(Alone, LongRowsThatLieAcross) {
  for (const char* threads : {"1", "2", "5"}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", threads}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    CheckRows<float>(48, 40000, environment.stream(), 17);
    CheckRows<float>(40, 40000, environment.stream(), 17);
    CheckRows<uint16_t>(48, 70000, environment.stream(), 17);

    constexpr int64_t kElements = 40000, kPitch = 27;
    RandomNumbers random(5);
    std::vector<float> x = Drawn<float>(kElements * 48, random), padded(kElements * 2 * kPitch);
    const std::vector<float> dense =
        Result<float>(Operator::kSoftmax, 48, kElements, 1, 48, x, environment.stream());
    aclTensor* const in = Tensor<float>({kElements, 2, 24}, {48, 24, 1}, x);
    aclTensor* const out = Tensor<float>({kElements, 2, 24}, {2 * kPitch, kPitch, 1}, padded);
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnSoftmaxGetWorkspaceSize(in, 0, out, &size, &executor), 0);
    EXPECT_EQ(aclnnSoftmax(nullptr, 0, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    int64_t differ = 0;
    for (size_t line = 0; line < kElements * 2; ++line)
      differ += std::memcmp(&padded[line * kPitch], &dense[line * 24], 24 * sizeof(float)) != 0;
    EXPECT_EQ(differ, 0) << threads << " threads";
    aclDestroyTensor(in);
    aclDestroyTensor(out);
  }
}

// Rows that lie across and fill more than a cache of this size, past which their results go.
TEST(Alone, ManyRowsHaveTheSameBits) {
  constexpr int64_t kRows = 64 * 1033, kElements = 64;
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "1"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  CheckRows<float>(kRows, kElements, environment.stream(), 997);
  CheckRows<uint16_t>(2 * kRows, kElements, environment.stream(), 997);
}

// More than a thread's memory holds of tiles: the rows that lie across are taken in pieces.
TEST(Alone, RowsInPieces) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "2"}});
  ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
  CheckRows<float>(3, 400001, environment.stream());
}

}  // namespace
}  // namespace portacl::testing
