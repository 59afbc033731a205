// Views: what a caller may give any number, strides of one element and of nothing, is one that can be multiplied.
// SPDX-License-Identifier: Apache-2.0
#include "plan/views.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <vector>

#include "aclnn/tensor.h"

namespace portacl {
namespace {

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

StridedView Tensor(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides,
                   int64_t offset = 0) {
  StridedView tensor;
  tensor.dtype = ACL_FLOAT;
  tensor.shape.rank = tensor.strides.rank = static_cast<int>(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) {
    tensor.shape.dim[i] = shape[i];
    tensor.strides.dim[i] = strides[i];
  }
  tensor.offset = offset;
  tensor.Describe();
  return tensor;
}

std::vector<int64_t> StridesOf(const StridedView& tensor) {
  return {tensor.strides.dim, tensor.strides.dim + tensor.strides.rank};
}

TEST(PlainView, ContinuesStridesOfOneElement) {
  EXPECT_EQ(StridesOf(PlainView(Tensor({2, 1, 3}, {3, kLeast, 1}))), (std::vector<int64_t>{3, 3, 1}));
  EXPECT_EQ(StridesOf(PlainView(Tensor({1, 3, 1}, {kMost, 1, kMost}))), (std::vector<int64_t>{3, 1, 1}));
  EXPECT_EQ(StridesOf(PlainView(Tensor({1, 3}, {kMost / 2, -2}, 4))), (std::vector<int64_t>{-6, -2}));
  EXPECT_EQ(StridesOf(PlainView(Tensor({1, 5}, {7, 0}))), (std::vector<int64_t>{0, 0}));
}

TEST(PlainView, KeepsStridesThatElementsDependOn) {
  const StridedView transposed = PlainView(Tensor({2, 3}, {1, 2}, 5));
  EXPECT_EQ(StridesOf(transposed), (std::vector<int64_t>{1, 2}));
  EXPECT_EQ(transposed.offset, 5);
}

// Repeated so often that it would not fit: nothing has to.
TEST(PlainView, GivesDenseViewsTheStridesThatTheyAreWalkedWith) {
  StridedView view = Tensor({2, 3}, {1, 2}, 5);
  EXPECT_FALSE(IsContiguous(view));
  view.is_dense = true;
  view.Describe();
  EXPECT_TRUE(IsContiguous(view));
  const StridedView plain = PlainView(view);
  EXPECT_EQ(StridesOf(plain), (std::vector<int64_t>{3, 1}));
  EXPECT_FALSE(plain.is_dense);
  EXPECT_TRUE(IsContiguous(plain));
}

// Which handles are dense their format says, also when it is set anew.
TEST(AclTensor, IsDenseInAPrivateFormatAlone) {
  aclTensor tensor;
  static_cast<StridedView&>(tensor) = Tensor({2, 3}, {1, 2});
  for (const aclFormat format : {ACL_FORMAT_FRACTAL_NZ, ACL_FORMAT_NC1HWC0, ACL_FORMAT_FRACTAL_Z}) {
    tensor.format = format;
    tensor.Describe();
    EXPECT_TRUE(tensor.is_dense && IsContiguous(tensor)) << format;
  }
  for (const aclFormat format : {ACL_FORMAT_ND, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC, ACL_FORMAT_NCDHW}) {
    tensor.format = format;
    tensor.Describe();
    EXPECT_FALSE(tensor.is_dense || IsContiguous(tensor)) << format;
  }
}

TEST(PlainView, ContinuesNoStrideBeyondAllBytes) {
  EXPECT_EQ(StridesOf(PlainView(Tensor({1, 2}, {0, kMost / 8}))), (std::vector<int64_t>{0, kMost / 8}));
}

TEST(PlainView, SettlesWhatHasNoElements) {
  const StridedView view = PlainView(Tensor({0, 3}, {kMost, kLeast}, kMost));
  EXPECT_EQ(StridesOf(view), (std::vector<int64_t>{0, 0}));
  EXPECT_EQ(view.offset, 0);
}

TEST(Narrow, TakesNoStepOutOfOneElement) {
  StridedView view = PlainView(Tensor({4, 3}, {3, 1}));
  Narrow(view, 0, 2, 1, kMost);
  EXPECT_EQ(StridesOf(view), (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(view.offset, 6);
}

}  // namespace
}  // namespace portacl
