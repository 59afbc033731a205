// Bytes of strided views against sets of bytes that are counted one by one.
// SPDX-License-Identifier: Apache-2.0
#include "base/strided_bytes.h"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace portacl::sanitizer {
namespace {

using Bytes = std::set<uintptr_t>;

struct View {
  uintptr_t first = 0;
  int64_t size = 1;
  std::vector<int64_t> shape;
  std::vector<int64_t> strides;

  StridedBytes Strided() const {
    bool is_exact = false;
    const StridedBytes bytes =
        StridedBytes::View(reinterpret_cast<void*>(first), size, shape, strides, &is_exact);
    EXPECT_TRUE(is_exact);
    return bytes;
  }
  Bytes Set() const {
    Bytes all;
    std::vector<int64_t> index(shape.size(), 0);
    for (const int64_t n : shape) {
      if (n == 0) return all;
    }
    for (;;) {
      int64_t at = 0;
      for (size_t i = 0; i < index.size(); ++i) at += index[i] * strides[i];
      for (int64_t byte = 0; byte < size; ++byte) {
        all.insert(first + static_cast<uintptr_t>(at * size + byte));
      }
      size_t axis = index.size();
      while (axis > 0 && ++index[axis - 1] == shape[axis - 1]) index[--axis] = 0;
      if (axis == 0) return all;
    }
  }
};

Bytes SetOf(const StridedBytes& bytes) {
  View view{.first = bytes.begin, .size = 1, .shape = {}, .strides = {}};
  for (int i = 0; i < bytes.dims; ++i) {
    view.shape.push_back(bytes.dim[i].count);
    view.strides.push_back(bytes.dim[i].stride);
  }
  view.shape.push_back(bytes.width);
  view.strides.push_back(1);
  return view.Set();
}

View RandomView(std::mt19937& random) {
  const auto pick = [&random](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  View view;
  view.first = 10000 + static_cast<uintptr_t>(pick(0, 40));
  view.size = 1 << pick(0, 2);
  const int rank = pick(0, 4);
  for (int i = 0; i < rank; ++i) {
    view.shape.push_back(pick(0, 20) == 0 ? 0 : pick(1, 5));
    view.strides.push_back(pick(-12, 24));
  }
  return view;
}

TEST(StridedBytes, AViewIsItsBytes) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const View view = RandomView(random);
    const Bytes expected = view.Set();
    const StridedBytes found = view.Strided();
    ASSERT_EQ(SetOf(found), expected) << round;
    ASSERT_EQ(found.IsEmpty(), expected.empty());
    if (!expected.empty()) {
      ASSERT_EQ(found.begin, *expected.begin());
      ASSERT_EQ(found.End(), *expected.rbegin() + 1);
    }
  }
}

TEST(StridedBytes, OverlapIsACommonByte) {
  std::mt19937 random(2);
  int disjoint = 0;
  for (int round = 0; round < 20000; ++round) {
    const View a = RandomView(random);
    const View b = RandomView(random);
    const Bytes of_b = b.Set();
    bool expected = false;
    bool covered = true;
    const Bytes of_a = a.Set();
    for (const uintptr_t byte : of_b) (of_a.count(byte) == 1 ? expected : covered) = of_a.count(byte) == 1;
    ASSERT_EQ(FindOverlap(a.Strided(), b.Strided()), expected ? Overlapping::kYes : Overlapping::kNo)
        << round;
    if (Covers(a.Strided(), b.Strided())) {
      ASSERT_TRUE(covered) << round;
    }
    disjoint += expected ? 0 : 1;
  }
  EXPECT_GT(disjoint, 1000);
}

TEST(StridedBytes, ColumnsOfALargeMatrixAreApart) {
  const int64_t rows = 1 << 20;
  const int64_t columns = 1 << 10;
  const View left{.first = 4096, .size = 4, .shape = {rows, columns / 2}, .strides = {columns, 1}};
  View right = left;
  right.first += static_cast<uintptr_t>(2 * columns);
  EXPECT_EQ(FindOverlap(left.Strided(), right.Strided()), Overlapping::kNo);
  right.first -= 4;
  EXPECT_EQ(FindOverlap(left.Strided(), right.Strided()), Overlapping::kYes);
  const View transposed{.first = 4096, .size = 4, .shape = {columns / 2, rows}, .strides = {1, columns}};
  EXPECT_EQ(transposed.Strided(), left.Strided());
}

TEST(StridedBytes, TooManyDimsAreNotExact) {
  std::vector<int64_t> shape(11, 2);
  std::vector<int64_t> strides;
  for (int64_t stride = 3; strides.size() < shape.size(); stride = stride * 3) strides.push_back(stride);
  bool is_exact = true;
  StridedBytes::View(reinterpret_cast<void*>(4096), 1, shape, strides, &is_exact);
  EXPECT_FALSE(is_exact);
}

TEST(StridedBytes, RowsOfACopy) {
  char* const base = reinterpret_cast<char*>(4096);
  EXPECT_TRUE(StridedBytes::Rows(base, 16, 4, 16).IsOneRun());
  EXPECT_EQ(StridedBytes::Rows(base, 16, 4, 32).End(), 4096u + 3 * 32 + 16);
  EXPECT_TRUE(StridedBytes::Rows(base, 0, 4, 32).IsEmpty());
  EXPECT_EQ(FindOverlap(StridedBytes::Rows(base, 16, 4, 32), StridedBytes::Rows(base + 16, 16, 4, 32)),
            Overlapping::kNo);
}

}  // namespace
}  // namespace portacl::sanitizer
