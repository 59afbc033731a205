// Weights of matrix products, which keep their layout, and the sizes that they have on an NPU.
// SPDX-License-Identifier: Apache-2.0
#include "aclnnop/aclnn_trans_matmul_weight.h"
#include "gtest/gtest.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/index_operator.h"

namespace portacl::testing {
namespace {

IndexOperator Weight() {
  const auto takes_batches = [](const IndexCall& call) {
    return call.product == Product::kA2 || call.product == Product::kA3 ||
           call["mmWeightRef"].dtype == ACL_INT8;
  };
  IndexOperator op;
  op.function = PORTACL_C_FUNCTION(aclnnTransMatmulWeight);
  op.valid = {OutputArg("mmWeightRef", {33, 17}, ACL_FLOAT16)};
  op.rules = {NoNulls("mmWeightRef"),
              Refuses(161002, "mmWeightRef",
                      [](IndexCall& call) {
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
              EmptyDone("mmWeightRef"), Refuses(161002, "mmWeightRef", [=](IndexCall& call) {
                const size_t rank = call["mmWeightRef"].shape.size();
                return rank < 2 || rank > (takes_batches(call) ? 6 : 2);
              })};
  op.draw = [](IndexCall& call, RandomNumbers& random) {
    call["mmWeightRef"].shape = DrawShape(random, 2, 3);
    call["mmWeightRef"].dtype = DrawDtype(random, {ACL_FLOAT16, ACL_INT8, ACL_BF16});
  };
  op.oracle = [](const IndexCall&, const std::vector<TensorValues>&) { return std::vector<Outcome>{{}}; };
  return op;
}

const std::vector<IndexOperator>& Operators() {
  static const std::vector<IndexOperator> operators = {Weight()};
  return operators;
}

PORTACL_INDEX_TESTS(MatmulWeight, Operators());

class Array {
 public:
  explicit Array(const Shape& values) : array_(aclCreateIntArray(values.data(), values.size())) {}
  ~Array() { aclDestroyIntArray(array_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;
  operator const aclIntArray*() const { return array_; }

 private:
  aclIntArray* array_;
};

TEST(MatmulWeightSize, RoundsTheLastTwoDimsUp) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(Product::kA2)}});
  uint64_t size = 7;
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(Array({17, 33}), &size), 0);
  EXPECT_EQ(size, 32U * 48U);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(Array({3, 16, 0}), &size), 0);
  EXPECT_EQ(size, 0U);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(Array({5, 17, 33}), ACL_BF16, &size), 0);
  EXPECT_EQ(size, 5U * 32U * 48U);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(Array({5, 17, 33}), ACL_INT8, &size), 0);
  EXPECT_EQ(size, 5U * 32U * 64U);
  size = 7;
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(nullptr, &size), 161001);
  EXPECT_EQ(aclnnCalculateMatmulWeightSize(Array({2, 2}), nullptr), 161001);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(nullptr, ACL_INT8, &size), 161001);
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(Array({2, 2}), ACL_INT8, nullptr), 161001);
  for (const Shape& shape : {Shape{2}, Shape{1, 1, 1, 1, 1, 1, 1}, Shape{-1, 2}, Shape{INT64_MAX, 2}}) {
    EXPECT_EQ(aclnnCalculateMatmulWeightSize(Array(shape), &size), 161002);
    EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(Array(shape), ACL_INT8, &size), 161002);
  }
  EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(Array({0, 2}), ACL_INT8, &size), 161002);
  EXPECT_EQ(size, 7U);
}

TEST(MatmulWeightSize, DependsOnTheProduct) {
  for (const Product product : {Product::k910, Product::k310B, Product::k310P, Product::k950}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
    const bool has_none = product == Product::k910 || product == Product::k310B;
    uint64_t size = 0;
    EXPECT_EQ(aclnnCalculateMatmulWeightSize(Array({2, 2, 2}), &size), 161002);
    EXPECT_EQ(aclnnCalculateMatmulWeightSizeV2(Array({2, 2, 2}), ACL_INT8, &size), has_none ? 361001 : 0);
  }
}

}  // namespace
}  // namespace portacl::testing
