// aclnnNpuFormatCast: the storage that a format has, what the cast does to elements and descriptions, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "aclnnop/families/matmul.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/dtype_rules.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

class Tensor {
 public:
  Tensor(const Shape& view, aclDataType dtype, aclFormat format = ACL_FORMAT_ND, Shape storage = {},
         void* data = nullptr, const Shape& strides = {})
      : storage_(storage.empty() ? view : std::move(storage)),
        tensor_(aclCreateTensor(view.data(), view.size(), dtype, strides.empty() ? nullptr : strides.data(),
                                0, format, storage_.data(), storage_.size(), data)) {}
  ~Tensor() { aclDestroyTensor(tensor_); }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;
  operator aclTensor*() const { return tensor_; }

  aclFormat Format() const {
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclGetFormat(tensor_, &format);
    return format;
  }
  Shape View() const {
    int64_t* dims = nullptr;
    uint64_t rank = 0;
    aclGetViewShape(tensor_, &dims, &rank);
    Shape shape(dims, dims + rank);
    delete[] dims;
    return shape;
  }

 private:
  Shape storage_;
  aclTensor* tensor_;
};

struct Size {
  aclnnStatus status = -1;
  Shape shape;
  int format = -7;  // as it was where nothing is said
};
Size SizeOf(const aclTensor* tensor, int format, int dtype = -1) {
  Size size;
  int64_t* shape = nullptr;
  uint64_t rank = 0;
  size.status = aclnnNpuFormatCastCalculateSizeAndFormat(tensor, format, dtype, &shape, &rank, &size.format);
  const std::unique_ptr<int64_t[]> owner(shape);
  if (shape != nullptr) size.shape.assign(shape, shape + rank);
  return size;
}

struct SizeCase {
  Product product;
  Shape view;
  aclDataType dtype;
  int additional;
  aclnnStatus status;
  Shape shape;
  int format;
};

TEST(FormatCastSize, OfFractal) {
  const std::vector<SizeCase> cases = {
      {Product::kA2, {33, 17}, ACL_FLOAT16, -1, 0, {2, 3, 16, 16}, 29},
      {Product::kA2, {5, 33, 33}, ACL_INT8, -1, 0, {5, 2, 3, 16, 32}, 29},
      {Product::kA2, {16, 16}, ACL_INT32, -1, 0, {2, 1, 16, 8}, 29},
      {Product::kA2, {16, 16}, ACL_INT32, ACL_FLOAT16, 0, {1, 1, 16, 16}, 29},
      {Product::kA2, {16, 0}, ACL_FLOAT16, -1, 361001, {}, -7},
      {Product::kA2, {-16, 16}, ACL_FLOAT16, -1, 361001, {}, -7},
      {Product::kA2, {-16, -16}, ACL_FLOAT16, -1, 361001, {}, -7},
      {Product::kA2, {16, 16}, ACL_DOUBLE, -1, 161002, {}, -7},
      {Product::k910, {16, 16}, ACL_FLOAT16, -1, 161002, {}, -7},
      {Product::k950, {33, 17}, ACL_BF16, -1, 0, {2, 3, 16, 16}, 29},
      {Product::k950, {1, 17}, ACL_BF16, -1, 161002, {}, -7},
      {Product::k950, {1, 64}, ACL_FLOAT8_E4M3FN, -1, 0, {2, 1, 16, 32}, 29},
      {Product::k950, {64, 64}, ACL_FLOAT4_E2M1, -1, 0, {1, 4, 16, 64}, 29},
      {Product::k950, {16, 0}, ACL_FLOAT16, -1, 161002, {}, -7},
      {Product::k950, {16, -16}, ACL_FLOAT16, -1, 161002, {}, -7},
      {Product::k950, {64, 8}, ACL_INT32, ACL_BF16, 0, {1, 4, 16, 16}, 50},
      {Product::k950, {64, 64}, ACL_INT32, ACL_INT8, 0, {2, 4, 16, 32}, 51},
      {Product::k950, {64, 64}, ACL_INT32, ACL_FLOAT8_E4M3FN, 161002, {}, -7},
      {Product::k950, {64, 64}, ACL_FLOAT, ACL_HIFLOAT8, 0, {4, 4, 16, 16}, -7},
      {Product::k950, {2, 2, 64, 64}, ACL_INT32, ACL_BF16, 161002, {}, -7},
      {Product::k950, {64, 64}, ACL_INT32, -1, 161002, {}, -7},
  };
  for (const SizeCase& one : cases) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(one.product)}});
    const Tensor tensor(one.view, one.dtype);
    const Size size = SizeOf(tensor, ACL_FORMAT_FRACTAL_NZ, one.additional);
    SCOPED_TRACE(::testing::Message()
                 << ProductName(one.product) << " " << one.dtype << " " << one.additional);
    EXPECT_EQ(size.status, one.status);
    EXPECT_EQ(size.shape, one.shape);
    EXPECT_EQ(size.format, one.format);
    const std::string message = one.status == 0 ? "" : TakeErrorMessage();
    EXPECT_EQ(message.find("aclnnNpuFormatCastCalculateSizeAndFormat") != std::string::npos, one.status != 0);
  }
}

TEST(FormatCastSize, OfPlain) {
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    const Tensor tensor({33, 17}, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, {2, 3, 16, 16});
    const Size size = SizeOf(tensor, ACL_FORMAT_ND);
    EXPECT_EQ(size.status, 0);
    EXPECT_EQ(size.shape, (Shape{33, 17}));
    EXPECT_EQ(size.format, ACL_FORMAT_ND);
    const Tensor other({33, 17}, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, {2, 3, 16, 8});
    EXPECT_EQ(SizeOf(other, ACL_FORMAT_ND).status, product == Product::k950 ? 161002 : 0);
    TakeErrorMessage();
    EXPECT_EQ(SizeOf(tensor, ACL_FORMAT_FRACTAL_NZ).status, 361001);
    EXPECT_NE(TakeErrorMessage().find("dstFormat"), std::string::npos);
    const Tensor negative({-33, 17}, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, {2, 3, 16, 16});
    EXPECT_EQ(SizeOf(negative, ACL_FORMAT_ND).status, 161002);
    EXPECT_NE(TakeErrorMessage().find("srcTensor"), std::string::npos);
    EXPECT_EQ(SizeOf(nullptr, ACL_FORMAT_ND).status, 161002);
    EXPECT_NE(TakeErrorMessage().find("srcTensor"), std::string::npos);
  }
}

aclnnStatus Cast(const ScopedEnvironment& environment, const aclTensor* from, aclTensor* to) {
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const aclnnStatus status = aclnnNpuFormatCastGetWorkspaceSize(from, to, &size, &executor);
  if (status != 0) return status;
  std::vector<std::byte> workspace(size);
  EXPECT_EQ(aclnnNpuFormatCast(workspace.data(), size, executor, environment.stream()), 0);
  return aclrtSynchronizeStream(environment.stream());
}

// There and back, and what a product makes of a weight in between.
TEST(FormatCast, ThereAndBack) {
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    constexpr int64_t kRows = 19;
    constexpr int64_t kColumns = 35;
    std::vector<float> numbers(kRows * kColumns);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 23) - 11;
    std::vector<float> fractal(size_t{5} * 2 * 16 * 8, -1);
    std::vector<float> back(numbers.size(), -1);
    const Tensor from({kRows, kColumns}, ACL_FLOAT, ACL_FORMAT_ND, {}, numbers.data());
    const Size size = SizeOf(from, ACL_FORMAT_FRACTAL_NZ);
    ASSERT_EQ(size.shape, (Shape{5, 2, 16, 8}));
    const Tensor weight({kRows, kColumns}, ACL_FLOAT, static_cast<aclFormat>(size.format), size.shape,
                        fractal.data());
    ASSERT_EQ(Cast(environment, from, weight), 0) << TakeErrorMessage();
    EXPECT_EQ(weight.Format(), ACL_FORMAT_FRACTAL_NZ);
    EXPECT_EQ(weight.View(), (Shape{kRows, kColumns}));
    std::vector<float> one(kRows, 0);
    one[3] = 1;
    std::vector<float> row(kColumns, -1);
    const Tensor left({1, kRows}, ACL_FLOAT, ACL_FORMAT_ND, {}, one.data());
    const Tensor result({1, kColumns}, ACL_FLOAT, ACL_FORMAT_ND, {}, row.data());
    uint64_t bytes = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMmGetWorkspaceSize(left, weight, result, 0, &bytes, &executor), 0) << TakeErrorMessage();
    ASSERT_EQ(aclnnMm(nullptr, 0, executor, environment.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    for (int64_t column = 0; column < kColumns; ++column)
      EXPECT_EQ(row[static_cast<size_t>(column)], numbers[static_cast<size_t>(3 * kColumns + column)]);
    const Tensor plain({kRows, kColumns}, ACL_FLOAT, ACL_FORMAT_ND, {}, back.data());
    ASSERT_EQ(Cast(environment, weight, plain), 0) << TakeErrorMessage();
    EXPECT_EQ(back, numbers);
  }
}

// torch_npu asks for blocks of 16 columns of 4-byte elements; before Ascend 950 they become ND again.
TEST(FormatCast, WideBlocksOfFourBytes) {
  for (const Product product : {Product::kA2, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    std::vector<int32_t> numbers(33 * 17);
    for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<int32_t>(i * i);
    std::vector<int32_t> fractal(size_t{2} * 3 * 16 * 16, -1);
    std::vector<int32_t> back(numbers.size(), -1);
    const Tensor from({33, 17}, ACL_INT32, ACL_FORMAT_ND, {}, numbers.data());
    const Size size = SizeOf(from, ACL_FORMAT_FRACTAL_NZ, ACL_FLOAT16);
    ASSERT_EQ(size.shape, (Shape{2, 3, 16, 16}));
    const auto cast = [&](aclFormat format) {
      const Tensor blocks({33, 17}, ACL_INT32, format, size.shape, fractal.data());
      const Tensor plain({33, 17}, ACL_INT32, ACL_FORMAT_ND, {}, back.data());
      ASSERT_EQ(Cast(environment, from, blocks), 0) << TakeErrorMessage();
      const bool fits = format == size.format;
      EXPECT_EQ(Cast(environment, blocks, plain), fits ? 0 : 161002);
      if (fits) {
        EXPECT_EQ(back, numbers);
      } else {
        EXPECT_NE(TakeErrorMessage().find("the storage of blocks that it has"), std::string::npos);
      }
    };
    cast(static_cast<aclFormat>(size.format));
    if (product == Product::k950) cast(ACL_FORMAT_FRACTAL_NZ);
  }
}

// PyTorch's NPU back end gives a tensor that is no longer in blocks the format that goes with its dims.
TEST(FormatCast, ComesBackAsAnImage) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  std::vector<uint16_t> numbers(2 * 2 * 16 * 16);
  std::iota(numbers.begin(), numbers.end(), uint16_t{1});
  const struct {
    std::vector<int64_t> dims;
    std::vector<int64_t> blocks;
    aclFormat format;
  } cases[] = {{{2, 3, 5}, {2, 1, 1, 16, 16}, ACL_FORMAT_NCL},
               {{2, 2, 3, 5}, {2, 2, 1, 1, 16, 16}, ACL_FORMAT_NCHW},
               {{1, 2, 2, 3, 5}, {1, 2, 2, 1, 1, 16, 16}, ACL_FORMAT_NCDHW}};
  for (const auto& one : cases) {
    int64_t count = 1;
    for (const int64_t dim : one.dims) count *= dim;
    std::vector<uint16_t> back(static_cast<size_t>(count));
    const Tensor fractal(one.dims, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, one.blocks, numbers.data());
    const Tensor plain(one.dims, ACL_FLOAT16, one.format, {}, back.data());
    EXPECT_EQ(Cast(environment, fractal, plain), 0) << TakeErrorMessage();
    EXPECT_TRUE(std::equal(back.begin(), back.end(), numbers.begin()));
  }
}

TEST(FormatCast, Refuses) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  std::vector<float> memory(1024, 7);
  const Tensor plain({16, 16}, ACL_FLOAT, ACL_FORMAT_ND, {}, memory.data());
  const Tensor fractal({16, 16}, ACL_FLOAT, ACL_FORMAT_FRACTAL_NZ, {2, 1, 16, 8}, memory.data());
  const auto expect = [&](const aclTensor* from, aclTensor* to, aclnnStatus status, const char* words) {
    EXPECT_EQ(Cast(environment, from, to), status);
    const std::string message = TakeErrorMessage();
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect(nullptr, fractal, 561103, "srcTensor");
  expect(plain, nullptr, 561103, "dstTensor");
  expect(plain, plain, 161002, "FRACTAL_NZ of a tensor in ND");
  expect(fractal, fractal, 161002, "ND, NCL, NCHW or NCDHW");
  const Tensor transposed({16, 16}, ACL_FLOAT, ACL_FORMAT_ND, {}, memory.data(), {1, 16});
  expect(transposed, fractal, 161002, "contiguous");
  const Tensor half({16, 16}, ACL_FLOAT16, ACL_FORMAT_FRACTAL_NZ, {1, 1, 16, 16}, memory.data());
  expect(plain, half, 161002, "srcTensor's dtype");
  const Tensor small({16, 16}, ACL_FLOAT, ACL_FORMAT_FRACTAL_NZ, {1, 1, 16, 8}, memory.data());
  expect(plain, small, 161002, "room");
  const Tensor flat({16, 16}, ACL_FLOAT, ACL_FORMAT_FRACTAL_NZ, {256}, memory.data());
  expect(plain, flat, 161002, "two dims more");
  EXPECT_EQ(flat.Format(), ACL_FORMAT_FRACTAL_NZ);
  expect(small, plain, 161002, "a storage that holds its elements");
  for (const float number : memory) EXPECT_EQ(number, 7);
}

}  // namespace
}  // namespace portacl::testing
