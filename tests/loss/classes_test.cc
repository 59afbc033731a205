// Losses over classes and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "aclnnop/families/loss.h"
#include "gtest/gtest.h"
#include "operators/norms.h"
#include "support/contract_suite.h"
#include "support/environment.h"
#include "support/guarded_buffer.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Classes, ClassOperators());

// They count like ignored ones, and fail the stream once, with the first of them.
TEST(ClassTargets, ThatAreNoClassFailTheStream) {
  constexpr int64_t kRows = 9000;
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    std::vector<float> self(kRows * 3, 2), weight = {9, 1, 2, 3}, out(1), total(1), gradient(kRows * 3, 7);
    std::vector<int64_t> target(kRows, 0);
    target[4200] = 3;
    target[8800] = -1;
    const int64_t rows[] = {kRows, 3}, classes[] = {3};
    const auto tensor = [](const int64_t* shape, uint64_t rank, aclDataType dtype, void* data) {
      return aclCreateTensor(shape, rank, dtype, nullptr, 0, ACL_FORMAT_ND, shape, rank, data);
    };
    const std::vector<aclTensor*> all = {
        tensor(rows, 2, ACL_FLOAT, self.data()),          tensor(rows, 1, ACL_INT64, target.data()),
        tensor(classes, 1, ACL_FLOAT, weight.data() + 1), tensor(nullptr, 0, ACL_FLOAT, out.data()),
        tensor(nullptr, 0, ACL_FLOAT, total.data()),      tensor(rows, 2, ACL_FLOAT, gradient.data())};
    const auto fails = [&] {
      EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
      const std::string message = TakeErrorMessage();
      EXPECT_EQ(message.find("target has the value 3 at element 4200, accepted: 0 to 2") != std::string::npos,
                raises)
          << message;
    };
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnNLLLossGetWorkspaceSize(all[0], all[1], all[2], 1, -100, all[3], all[4], &size, &executor),
              0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnNLLLoss(workspace.device(), size, executor, environment.stream()), 0);
    fails();
    EXPECT_EQ(total[0], kRows - 2.0f);
    EXPECT_EQ(out[0], -2.0f);
    ASSERT_EQ(aclnnNLLLossBackwardGetWorkspaceSize(all[3], all[0], all[1], all[2], 2, -100, all[4], all[5],
                                                   &size, &executor),
              0);
    ASSERT_EQ(aclnnNLLLossBackward(workspace.device(), size, executor, environment.stream()), 0);
    fails();
    for (size_t i = 0; i < gradient.size(); ++i)
      ASSERT_EQ(gradient[i], i % 3 == 0 && i != 4200 * 3 && i != 8800 * 3 ? 2.0f : 0.0f) << i;
    for (const aclTensor* one : all) aclDestroyTensor(one);
  }
}

// Weights of ten dims, none of which goes on in the next, are more than are walked along; as one of memory they are not.
TEST(ClassWeights, OfManyDims) {
  const ScopedEnvironment environment(Variables{});
  constexpr int64_t kClasses = 1024;
  const std::vector<int64_t> dims(10, 2);
  std::vector<int64_t> ascending, descending;
  for (int64_t stride = 1; stride < kClasses; stride *= 2) ascending.push_back(stride);
  descending.assign(ascending.rbegin(), ascending.rend());
  std::vector<float> weight(kClasses), gradient = {1}, total = {1}, out(kClasses);
  for (size_t i = 0; i < weight.size(); ++i) weight[i] = static_cast<float>(i);
  std::vector<int64_t> target = {600};
  const int64_t image[] = {1, kClasses, 1, 1}, place[] = {1, 1, 1};
  const auto tensor = [](const int64_t* shape, uint64_t rank, aclDataType dtype, const int64_t* strides,
                         void* data) {
    return aclCreateTensor(shape, rank, dtype, strides, 0, ACL_FORMAT_ND, shape, rank, data);
  };
  aclTensor* const g = tensor(nullptr, 0, ACL_FLOAT, nullptr, gradient.data());
  aclTensor* const sum = tensor(nullptr, 0, ACL_FLOAT, nullptr, total.data());
  aclTensor* const of = tensor(place, 3, ACL_INT64, nullptr, target.data());
  aclTensor* const to = tensor(image, 4, ACL_FLOAT, nullptr, out.data());
  for (const auto& strides : {descending, ascending}) {
    aclTensor* const weights = tensor(dims.data(), 10, ACL_FLOAT, strides.data(), weight.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        aclnnNLLLoss2dBackwardGetWorkspaceSize(g, to, of, weights, 2, -100, sum, to, &size, &executor);
    if (strides == ascending) {
      EXPECT_EQ(status, 561103);
      EXPECT_NE(TakeErrorMessage().find("weight"), std::string::npos);
    } else {
      ASSERT_EQ(status, 0);
      ASSERT_EQ(aclnnNLLLoss2dBackward(nullptr, size, executor, environment.stream()), 0);
      ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
      for (size_t i = 0; i < out.size(); ++i) EXPECT_EQ(out[i], i == 600 ? -600.0f : 0.0f);
    }
    aclDestroyTensor(weights);
  }
  for (const aclTensor* one : {g, sum, of, to}) aclDestroyTensor(one);
}

// A target that is no class counts as one that is ignored, and the stream fails once.
TEST(Classes, ABadTargetFailsTheStream) {
  for (const bool raises : {true, false}) {
    const ScopedEnvironment environment(Variables{{"PORTACL_INDEX_ERRORS", raises ? "raise" : "ignore"}});
    ASSERT_EQ(environment.init_status(), ACL_SUCCESS);
    for (const OperatorSpec& op : ClassOperators()) {
      if (op.valid[0].name != "input" && op.valid[0].name != "gradLoss") continue;
      for (const int64_t bad : {int64_t{3}, int64_t{-1}, INT64_MAX, INT64_MIN}) {
        const bool is_loss = op.valid[0].name == "input";
        const Shape shape = {2, 3};
        const Shape rows = {2};
        const Shape one = {1};
        std::vector<float> x = {0, 1, 2, 3, 4, 5};
        std::vector<float> loss = {1};
        std::vector<float> result(6, -7);
        std::vector<int64_t> target = {bad, 1};
        const auto make = [](const Shape& dims, aclDataType dtype, void* data) {
          return aclCreateTensor(dims.data(), dims.size(), dtype, nullptr, 0, ACL_FORMAT_ND, dims.data(),
                                 dims.size(), data);
        };
        aclTensor* const t_x = make(shape, ACL_FLOAT, x.data());
        aclTensor* const t_target = make(rows, ACL_INT64, target.data());
        aclTensor* const t_loss = make(one, ACL_FLOAT, loss.data());
        aclTensor* const t_result = make(shape, ACL_FLOAT, result.data());
        char mean[] = "mean";
        uint64_t bytes = 0;
        aclOpExecutor* executor = nullptr;
        if (is_loss) {
          ASSERT_EQ(
              aclnnCrossEntropyLossGetWorkspaceSize(t_x, t_target, nullptr, mean, -100, 0, 0, false, t_loss,
                                                    t_result, t_loss, t_loss, &bytes, &executor),
              0);
        } else {
          ASSERT_EQ(
              aclnnCrossEntropyLossGradGetWorkspaceSize(t_loss, t_x, t_target, nullptr, nullptr, nullptr,
                                                        mean, -100, 0, 0, t_result, &bytes, &executor),
              0);
        }
        const GuardedBuffer workspace(bytes);
        const auto run = is_loss ? aclnnCrossEntropyLoss : aclnnCrossEntropyLossGrad;
        ASSERT_EQ(run(workspace.device(), bytes, executor, environment.stream()), 0);
        EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
        EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
        if (is_loss) {
          EXPECT_NEAR(loss[0], 1.407605964, 1e-6) << "the loss of the other row";
        } else {
          for (int i = 0; i < 3; ++i) EXPECT_EQ(result[static_cast<size_t>(i)], 0);
        }
        for (aclTensor* const tensor : {t_x, t_target, t_loss, t_result}) aclDestroyTensor(tensor);
      }
    }
  }
}

// Labels that are no class are left out wherever they stand, nothing is read where they point to, and the first of them fails the stream
// where the product does not skip them.
TEST(Labels, ThatAreNoClassFailTheStream) {
  constexpr int64_t kRows = 50, kClasses = 300;
  struct {
    const char* errors;
    Product product;
    bool raises;
  } const cases[] = {{"raise", Product::kA2, true},
                     {"raise", Product::k310P, true},
                     {"raise", Product::k950, false},
                     {"ignore", Product::kA2, false}};
  for (const auto& [errors, product, raises] : cases) {
    SCOPED_TRACE(SocNameOf(product));
    const ScopedEnvironment environment(
        Variables{{"PORTACL_INDEX_ERRORS", errors}, {"PORTACL_SOC", SocNameOf(product)}});
    std::vector<float> self(kRows * kClasses, 2), out(kRows), marks(kRows * kClasses, 7);
    std::vector<int64_t> target(kRows * kClasses, -1);
    for (int64_t row = 0; row < kRows; ++row) target[static_cast<size_t>(row * kClasses)] = row;
    const auto bad = [&](size_t element, int64_t value) { target[element] = value; };
    bad(7 * kClasses, kClasses);
    bad(7 * kClasses + 1, 5);
    bad(9 * kClasses, INT64_MAX);
    bad(11 * kClasses, INT64_MIN);
    bad(13 * kClasses, -2);
    bad(15 * kClasses + 2, kClasses);  // behind a -1 nothing is looked at
    const int64_t rows[] = {kRows, kClasses};
    const auto tensor = [&](uint64_t rank, aclDataType dtype, void* data) {
      return aclCreateTensor(rows, rank, dtype, nullptr, 0, ACL_FORMAT_ND, rows, rank, data);
    };
    const std::vector<aclTensor*> all = {
        tensor(2, ACL_FLOAT, self.data()), tensor(2, ACL_INT64, target.data()),
        tensor(1, ACL_FLOAT, out.data()), tensor(2, ACL_FLOAT, marks.data())};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(all[0], all[1], 0, all[2], all[3], &size, &executor),
              0);
    const GuardedBuffer workspace(size);
    ASSERT_EQ(aclnnMultilabelMarginLoss(workspace.device(), size, executor, environment.stream()), 0);
    EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), raises ? 507015 : 0);
    const std::string message = TakeErrorMessage();
    const char* const said = "target has the value 300 at element 2100, accepted: 0 to 299, or -1";
    EXPECT_EQ(message.find(said) != std::string::npos, raises) << message;
    for (int64_t row = 0; row < kRows; ++row) {
      const bool has_none = row == 9 || row == 11 || row == 13;
      const int64_t label = row == 7 ? 5 : row;
      EXPECT_EQ(out[static_cast<size_t>(row)], has_none ? 0.0f : 299.0f / 300.0f) << row;
      for (int64_t i = 0; i < kClasses; ++i)
        ASSERT_EQ(marks[static_cast<size_t>(row * kClasses + i)], !has_none && i == label ? 1.0f : 0.0f);
    }
    for (const aclTensor* one : all) aclDestroyTensor(one);
  }
}

// A row may be one number that is repeated: classes cost no memory but in the workspace, whose size must not wrap.
TEST(Labels, MoreThanAWorkspaceHolds) {
  const ScopedEnvironment environment(Variables{{"PORTACL_NUM_THREADS", "4"}});
  struct {
    int64_t rows, classes;
    uint64_t bytes;  // 0: there is none of this size
  } const cases[] = {{1, int64_t{1} << 61, 0},
                     {1, int64_t{1} << 59, 0},
                     {1, int64_t{1} << 58, 8 + 24 * (uint64_t{1} << 58)},
                     {8, int64_t{1} << 57, 0},
                     {int64_t{1} << 60, 1, 0}};
  for (const auto& one : cases) {
    const int64_t dims[] = {one.rows, one.classes};
    const int64_t one_number[] = {0, 0};
    const auto tensor = [&](uint64_t rank, aclDataType dtype, const int64_t* strides) {
      return aclCreateTensor(dims, rank, dtype, strides, 0, ACL_FORMAT_ND, dims, rank, ForbiddenAddress());
    };
    const std::vector<aclTensor*> all = {tensor(2, ACL_FLOAT16, one_number), tensor(2, ACL_INT32, one_number),
                                         tensor(1, ACL_FLOAT16, nullptr), tensor(2, ACL_FLOAT16, nullptr)};
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        aclnnMultilabelMarginLossGetWorkspaceSize(all[0], all[1], 0, all[2], all[3], &size, &executor);
    EXPECT_EQ(status, one.bytes == 0 ? 161002 : 0) << one.rows << " " << one.classes;
    EXPECT_EQ(size, one.bytes) << one.rows << " " << one.classes;
    if (status == 0) {
      EXPECT_EQ(aclDestroyAclOpExecutor(executor), 0);
    } else {
      EXPECT_NE(TakeErrorMessage().find("workspace"), std::string::npos);
    }
    for (const aclTensor* tensor_made : all) aclDestroyTensor(tensor_made);
  }
}

// A pair with a NaN is not above 0, as in PyTorch; neither is one of equal infinities.
TEST(Labels, NumbersThatAreNotFinite) {
  const ScopedEnvironment environment(Variables{});
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> self = {nan, 1, 1, 1, 1, nan, 1, 1, inf, 1, 1, inf, -inf, 1, -inf, 1, 1, inf, 1, 1};
  std::vector<int32_t> target = {0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0};
  std::vector<float> out(5), marks(20);
  const int64_t rows[] = {5, 4};
  const auto tensor = [&](uint64_t rank, aclDataType dtype, void* data) {
    return aclCreateTensor(rows, rank, dtype, nullptr, 0, ACL_FORMAT_ND, rows, rank, data);
  };
  const std::vector<aclTensor*> all = {tensor(2, ACL_FLOAT, self.data()), tensor(2, ACL_INT32, target.data()),
                                       tensor(1, ACL_FLOAT, out.data()), tensor(2, ACL_FLOAT, marks.data())};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnMultilabelMarginLossGetWorkspaceSize(all[0], all[1], 0, all[2], all[3], &size, &executor),
            0);
  const GuardedBuffer workspace(size);
  ASSERT_EQ(aclnnMultilabelMarginLoss(workspace.device(), size, executor, environment.stream()), 0);
  ASSERT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(out, (std::vector<float>{0, 0.5f, 0, inf, inf}));
  for (const aclTensor* one : all) aclDestroyTensor(one);
}

}  // namespace
}  // namespace portacl::testing
