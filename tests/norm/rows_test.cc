// Softmax and norms over rows, and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "aclnnop/families/norm.h"
#include "gtest/gtest.h"
#include "operators/norms.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Rows, RowOperators());

// Slices (3, 4) and (0, 0) of x, scaled to a 2-norm of at most `most`; or what phase 1 answers.
struct Renormed {
  aclnnStatus code;
  std::string message;
  std::vector<float> out;
};
Renormed Renorm(Product product, float p, float most) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", SocNameOf(product)}});
  Renormed result{0, "", std::vector<float>(4, 7.0f)};
  std::vector<float> x = {3, 4, 3e-13f, 4e-13f};
  const Shape shape = {2, 2};
  const auto tensor = [&](std::vector<float>& data) {
    return aclCreateTensor(shape.data(), 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(), 2,
                           data.data());
  };
  aclTensor* const in = tensor(x);
  aclTensor* const out = tensor(result.out);
  aclScalar* const power = aclCreateScalar(&p, ACL_FLOAT);
  aclScalar* const bound = aclCreateScalar(&most, ACL_FLOAT);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  result.code = aclnnRenormGetWorkspaceSize(in, power, 0, bound, out, &size, &executor);
  if (result.code != 0) {
    result.message = aclGetRecentErrMsg();
  } else {
    EXPECT_EQ(aclnnRenorm(nullptr, size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  }
  for (const aclTensor* one : {in, out}) aclDestroyTensor(one);
  for (const aclScalar* one : {power, bound}) aclDestroyScalar(one);
  return result;
}
TEST(Renorm, AddsToTheNormOrBoundsIt) {
  // 2.5 / (5 + 1e-7) and 2.5 / 5 are one number of FLOAT. 1e-13 / (5e-13 + 1e-7) is not 1e-13 / 1e-12.
  EXPECT_EQ(Renorm(Product::kA2, 2, 2.5f).out, (std::vector<float>{1.5f, 2, 3e-13f, 4e-13f}));
  EXPECT_EQ(Renorm(Product::k950, 2, 2.5f).out, (std::vector<float>{1.5f, 2, 3e-13f, 4e-13f}));
  EXPECT_NEAR(Renorm(Product::kA2, 2, 1e-13f).out[2], 3e-19f, 1e-23f);
  EXPECT_NEAR(Renorm(Product::k950, 2, 1e-13f).out[2], 3e-14f, 1e-19f);
}
TEST(Renorm, RefusesWhatIsBelowZero) {
  for (const auto& [p, most, name] :
       {std::tuple{-1.0f, 1.0f, "parameter p "}, {2.0f, -0.5f, "parameter maxNorm "}}) {
    const Renormed result = Renorm(Product::kA2, p, most);
    EXPECT_EQ(result.code, 161002);
    EXPECT_NE(result.message.find(name), std::string::npos) << result.message;
    EXPECT_EQ(result.out, std::vector<float>(4, 7.0f));
  }
  EXPECT_EQ(Renorm(Product::kA2, NAN, 1).out, (std::vector<float>{3, 4, 3e-13f, 4e-13f}));
}

// Its kernel there writes no mean and no rstd; also that -0 stays where there is no bias.
TEST(AddLayerNorm, WithoutStatisticsOnInferenceProducts) {
  for (const bool is_inference : {true, false}) {
    const ScopedEnvironment environment(
        Variables{{"PORTACL_SOC", is_inference ? "Ascend310P3" : "Ascend910B1"}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    std::vector<float> x = {1, 3, -0.0f, -0.0f}, ones = {1, 1}, y(4), mean(2, 7), rstd(2, 7), sum(4);
    const int64_t rows[] = {2, 2}, columns[] = {2}, numbers[] = {2, 1};
    const auto tensor = [](const int64_t* shape, uint64_t rank, void* data) {
      return aclCreateTensor(shape, rank, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape, rank, data);
    };
    const std::vector<aclTensor*> all = {tensor(rows, 2, x.data()),       tensor(columns, 1, ones.data()),
                                         tensor(rows, 2, y.data()),       tensor(numbers, 2, mean.data()),
                                         tensor(numbers, 2, rstd.data()), tensor(rows, 2, sum.data())};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnAddLayerNormGetWorkspaceSize(all[0], all[0], all[1], all[1], nullptr, 0.0, true, all[2],
                                                all[3], all[4], all[5], &size, &executor),
              0);
    ASSERT_EQ(aclnnAddLayerNorm(nullptr, size, executor, environment.stream()), 0);
    ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
    EXPECT_EQ(y[0], 0.0f);
    EXPECT_EQ(y[1], 2.0f);
    EXPECT_EQ(mean[0], is_inference ? 7.0f : 4.0f);
    EXPECT_EQ(rstd[0], is_inference ? 7.0f : 0.5f);
    EXPECT_TRUE(std::signbit(sum[2]) && std::signbit(sum[3]));
    for (const aclTensor* one : all) aclDestroyTensor(one);
  }
}

// A caller may take 0 for "not planned yet", so LayerNorm asks for some, as it does on an NPU, and gets along without.
TEST(LayerNormWorkspace, IsAskedForAndNotNeeded) {
  const ScopedEnvironment environment(Variables{});
  std::vector<float> x = {1, 3, -2, 2}, y(4);
  const int64_t rows[] = {2, 2};
  const int64_t none[] = {0, 2};
  aclTensor* const in = aclCreateTensor(rows, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, rows, 2, x.data());
  aclTensor* const out = aclCreateTensor(rows, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, rows, 2, y.data());
  aclTensor* const empty = aclCreateTensor(none, 2, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, none, 2, nullptr);
  aclIntArray* const last = aclCreateIntArray(rows, 1);
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  for (const bool has_mode : {false, true}) {
    const auto plan = [&](aclTensor* from, aclTensor* to) {
      return has_mode ? aclnnLayerNormWithImplModeGetWorkspaceSize(from, last, nullptr, nullptr, 0.0, to,
                                                                   nullptr, nullptr, 0, &size, &executor)
                      : aclnnLayerNormGetWorkspaceSize(from, last, nullptr, nullptr, 0.0, to, nullptr,
                                                       nullptr, &size, &executor);
    };
    const auto run = has_mode ? aclnnLayerNormWithImplMode : aclnnLayerNorm;
    for (const bool is_given : {true, false}) {
      std::fill(y.begin(), y.end(), 7.0f);
      ASSERT_EQ(plan(in, out), 0);
      EXPECT_GT(size, 0u);
      EXPECT_LE(size, 1024u);
      std::vector<std::byte> workspace(size, std::byte{0x55});
      ASSERT_EQ(
          run(is_given ? workspace.data() : nullptr, is_given ? size : 0, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      EXPECT_EQ(y, (std::vector<float>{-1, 1, -1, 1}));
      EXPECT_EQ(workspace, std::vector<std::byte>(size, std::byte{0x55})) << "nothing is kept in it";
    }
    ASSERT_EQ(plan(empty, empty), 0);
    EXPECT_EQ(size, 0u) << "there is nothing to do";
    aclDestroyAclOpExecutor(executor);
  }
  for (aclTensor* made : {in, out, empty}) aclDestroyTensor(made);
  aclDestroyIntArray(last);
}

}  // namespace
}  // namespace portacl::testing
