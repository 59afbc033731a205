// Weights of matrix products, which get the format FRACTAL_NZ and keep their bytes, and the sizes that they have on an NPU.
// SPDX-License-Identifier: Apache-2.0

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "aclnnop/families/matmul.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/made.h"
#include "support/operator_spec.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

OperatorSpec Weight() {
  const auto takes_batches = [](const PlanCall& call) {
    return call.product == Product::kA2 || call.product == Product::kA3 ||
           call["mmWeightRef"].dtype == ACL_INT8;
  };
  OperatorSpec op;
  op.function = PORTACL_C_FUNCTION(aclnnTransMatmulWeight);
  op.valid = {OutputArg("mmWeightRef", {33, 17}, ACL_FLOAT16)};
  op.rules = {NoNulls("mmWeightRef"),
              Refuses(161002, "mmWeightRef",
                      [](PlanCall& call) {
                        const DtypeNumber dtype = call["mmWeightRef"].dtype;
                        const bool is_new = call.product == Product::kA2 || call.product == Product::kA3 ||
                                            call.product == Product::k950;
                        DtypeList list = {ACL_FLOAT16};
                        if (is_new)
                          list = {ACL_FLOAT16, ACL_BF16,          ACL_INT8,
                                  ACL_UINT8,   ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8};
                        if (call.product == Product::k310P) list.push_back(ACL_INT8);
                        return !IsOneOf(dtype, list) || call["mmWeightRef"].format != ACL_FORMAT_ND ||
                               call["mmWeightRef"].shape.size() > 8;
                      }),
              DoneIfEmpty("mmWeightRef"), Refuses(161002, "mmWeightRef", [=](PlanCall& call) {
                const size_t rank = call["mmWeightRef"].shape.size();
                return rank < 2 || rank > (takes_batches(call) ? 6 : 2);
              })};
  op.draw = [](PlanCall& call, RandomNumbers& random) {
    call["mmWeightRef"].shape = DrawShape(random, 2, 3);
    call["mmWeightRef"].dtype = DrawDtype(random, {ACL_FLOAT16, ACL_INT8, ACL_BF16});
  };
  op.oracle = [](const PlanCall&, const std::vector<TensorValues>&) { return std::vector<Outcome>{{}}; };
  return op;
}

// What a tensor says of itself.
struct Said {
  aclFormat format = ACL_FORMAT_UNDEFINED;
  Shape view, strides, storage;

  explicit Said(const aclTensor* tensor) {
    EXPECT_EQ(aclGetFormat(tensor, &format), 0);
    const auto dims = [&](auto get) {
      int64_t* values = nullptr;
      uint64_t count = 0;
      EXPECT_EQ(get(tensor, &values, &count), 0);
      Shape shape(values, values + count);
      delete[] values;
      return shape;
    };
    view = dims(aclGetViewShape);
    strides = dims(aclGetViewStrides);
    storage = dims(aclGetStorageShape);
  }
};

// The tensor says what it would on an NPU: the format and the padded dims of its storage; its view stays.
TEST(MatmulWeight, BecomesFractal) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  struct Case {
    DtypeNumber dtype;
    Shape shape, storage;
  };
  const std::vector<Case> cases = {{ACL_FLOAT16, {33, 17}, {2, 3, 16, 16}},
                                   {ACL_BF16, {16, 16}, {1, 1, 16, 16}},
                                   {ACL_INT8, {33, 33}, {2, 3, 16, 32}},
                                   {ACL_INT8, {1, 1}, {1, 1, 16, 32}},
                                   {ACL_FLOAT16, {5, 4, 33, 64}, {5, 4, 4, 3, 16, 16}}};
  for (const Case& one : cases) {
    for (const bool is_swapped : {false, true}) {
      std::vector<unsigned char> bytes(static_cast<size_t>(NumElements(one.shape) * ElementSize(one.dtype)),
                                       9);
      const std::vector<unsigned char> before = bytes;
      Shape strides(one.shape.size(), 1);
      for (size_t i = strides.size(); i-- > 1;) strides[i - 1] = strides[i] * one.shape[i];
      if (is_swapped) {
        strides[strides.size() - 2] = 1;
        strides[strides.size() - 1] = one.shape[strides.size() - 2];
      }
      aclTensor* const weight =
          aclCreateTensor(one.shape.data(), one.shape.size(), static_cast<aclDataType>(one.dtype),
                          strides.data(), 0, ACL_FORMAT_ND, one.shape.data(), one.shape.size(), bytes.data());
      uint64_t size = 7;
      aclOpExecutor* executor = nullptr;
      ASSERT_EQ(aclnnTransMatmulWeightGetWorkspaceSize(weight, &size, &executor), 0);
      EXPECT_EQ(size, 0u);
      ASSERT_EQ(aclnnTransMatmulWeight(nullptr, 0, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      const Said said(weight);
      EXPECT_EQ(said.format, ACL_FORMAT_FRACTAL_NZ);
      EXPECT_EQ(said.view, one.shape);
      EXPECT_EQ(said.strides, strides);
      EXPECT_EQ(said.storage, one.storage);
      EXPECT_EQ(bytes, before);
      // It is no plain weight any more.
      EXPECT_EQ(aclnnTransMatmulWeightGetWorkspaceSize(weight, &size, &executor), 161002);
      EXPECT_NE(TakeErrorMessage().find("FRACTAL_NZ"), std::string::npos);
      aclDestroyTensor(weight);
    }
  }
  // What is refused, and what is empty, stays what it was.
  for (const auto& [dtype, shape] :
       std::vector<std::pair<aclDataType, Shape>>{{ACL_FLOAT, {2, 3}}, {ACL_INT8, {2, 0}}}) {
    aclTensor* const weight = aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND,
                                              shape.data(), shape.size(), nullptr);
    uint64_t size = 7;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnTransMatmulWeightGetWorkspaceSize(weight, &size, &executor),
              dtype == ACL_FLOAT ? 161002 : 0);
    if (executor != nullptr) aclDestroyAclOpExecutor(executor);
    TakeErrorMessage();
    const Said said(weight);
    EXPECT_EQ(said.format, ACL_FORMAT_ND);
    EXPECT_EQ(said.storage, shape);
    aclDestroyTensor(weight);
  }
}

// Its bytes are those that aclnnQuantMatmulWeightNz and aclnnMm read.
TEST(MatmulWeight, IsTakenByProducts) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  constexpr int64_t kRows = 3, kTerms = 40, kColumns = 35;
  RandomNumbers random(1);
  std::vector<int8_t> x(kRows * kTerms), weight(kTerms * kColumns);
  for (std::vector<int8_t>* some : {&x, &weight}) {
    for (int8_t& value : *some) value = static_cast<int8_t>(random.Between(-9, 9));
  }
  std::vector<float> scale(kColumns, 1);
  std::vector<int32_t> out(kRows * kColumns, 77);
  const auto tensor = [](const Shape& shape, aclDataType dtype, void* data) {
    return aclCreateTensor(shape.data(), shape.size(), dtype, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data);
  };
  aclTensor* const left = tensor({kRows, kTerms}, ACL_INT8, x.data());
  aclTensor* const right = tensor({kTerms, kColumns}, ACL_INT8, weight.data());
  aclTensor* const scales = tensor({kColumns}, ACL_FLOAT, scale.data());
  aclTensor* const result = tensor({kRows, kColumns}, ACL_INT32, out.data());
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  const auto plan = [&] {
    return aclnnQuantMatmulWeightNzGetWorkspaceSize(left, right, nullptr, scales, nullptr, nullptr, nullptr,
                                                    nullptr, nullptr, false, false, 0, result, &size,
                                                    &executor);
  };
  EXPECT_EQ(plan(), 161002) << "it is ND";
  ASSERT_EQ(aclnnTransMatmulWeightGetWorkspaceSize(right, &size, &executor), 0);
  ASSERT_EQ(aclnnTransMatmulWeight(nullptr, 0, executor, environment.stream()), 0);
  ASSERT_EQ(plan(), 0) << TakeErrorMessage();
  ASSERT_EQ(aclnnQuantMatmulWeightNz(nullptr, size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      int32_t sum = 0;
      for (int64_t term = 0; term < kTerms; ++term)
        sum += x[static_cast<size_t>(row * kTerms + term)] *
               weight[static_cast<size_t>(term * kColumns + column)];
      EXPECT_EQ(out[static_cast<size_t>(row * kColumns + column)], sum) << row << ", " << column;
    }
  }
  for (aclTensor* made : {left, right, scales, result}) aclDestroyTensor(made);
}

const std::vector<OperatorSpec>& Operators() {
  static const std::vector<OperatorSpec> operators = {Weight()};
  return operators;
}

PORTACL_OPERATOR_TESTS(MatmulWeight, Operators());

TEST(MatmulWeightSize, RoundsTheLastTwoDimsUp) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  Made made;
  uint64_t size = 7;
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(made.Ints({17, 33}), &size), 0);
  EXPECT_EQ(size, 32U * 48U);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(made.Ints({3, 16, 0}), &size), 0);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(made.Ints({5, 17, 33}), ACL_BF16, &size), 0);
  EXPECT_EQ(size, 5U * 32U * 48U);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(made.Ints({5, 17, 33}), ACL_INT8, &size), 0);
  EXPECT_EQ(size, 5U * 32U * 64U);
  size = 7;
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(nullptr, &size), 161001);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(made.Ints({2, 2}), nullptr), 161001);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(nullptr, ACL_INT8, &size), 161001);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(made.Ints({2, 2}), ACL_INT8, nullptr), 161001);
  for (const Shape& shape : {Shape{2}, Shape{1, 1, 1, 1, 1, 1, 1}, Shape{-1, 2}, Shape{INT64_MAX, 2}}) {
    EXPECT_EQ(aclnnCalculateMatmulWeightSize(made.Ints(shape), &size), 161002);
    EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(made.Ints(shape), ACL_INT8, &size), 161002);
  }
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(made.Ints({0, 2}), ACL_INT8, &size), 161002);
  EXPECT_EQ(size, 7U);
}

TEST(MatmulWeightSize, DependsOnTheProduct) {
  for (const Product product : {Product::k910, Product::k310B, Product::k310P, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    const bool has_none = product == Product::k910 || product == Product::k310B;
    Made made;
    uint64_t size = 0;
    EXPECT_EQ(aclnnCalculateMatmulWeightSize(made.Ints({2, 2, 2}), &size), 161002);
    EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(made.Ints({2, 2, 2}), ACL_INT8, &size), has_none ? 361001 : 0);
  }
}

}  // namespace
}  // namespace portacl::testing
