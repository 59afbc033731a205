// Tensors that are scaled and shifted along some of their axes: their checks, and every element against its definition.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "aclnnop/families/arithmetic.h"
#include "aclnnop/families/norm.h"
#include "gtest/gtest.h"
#include "operators/norms.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Affine, AffineOperators());

// A scale of one number may have more dims than x.
TEST(ScaleByHand, OneNumberOfManyDims) {
  const ScopedEnvironment environment{Variables{}};
  std::vector<float> x = {1, -2}, scale = {3}, bias = {0.5f}, y = {9, 9};
  const auto dense = [](const Shape& shape, std::vector<float>& data) {
    return aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, shape.data(),
                           shape.size(), data.data());
  };
  aclTensor* const tensors[] = {dense({2}, x), dense({1, 1, 1}, scale), dense({1, 1, 1}, bias),
                                dense({2}, y)};
  uint64_t size = 0;
  aclOpExecutor* executor = nullptr;
  ASSERT_EQ(aclnnScaleGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, 0, false, tensors[3], &size,
                                       &executor),
            0);
  ASSERT_EQ(aclnnScale(nullptr, size, executor, environment.stream()), 0);
  EXPECT_EQ(aclrtSynchronizeStream(environment.stream()), 0);
  EXPECT_EQ(y, (std::vector<float>{3.5f, -5.5f}));
  for (const aclTensor* tensor : tensors) aclDestroyTensor(tensor);
}

// A tensor without rows goes with a scale and a shift that have no elements either.
TEST(ModulateByHand, AllAreEmptyOrNone) {
  const ScopedEnvironment environment{Variables{}};
  float number = 1;
  const auto answer = [&](const Shape& self, const Shape& scale, const Shape& shift) {
    std::vector<aclTensor*> tensors;
    for (const Shape& shape : {self, scale, shift, self})
      tensors.push_back(aclCreateTensor(shape.data(), shape.size(), ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND,
                                        shape.data(), shape.size(), &number));
    uint64_t size = 1;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus status =
        aclnnModulateGetWorkspaceSize(tensors[0], tensors[1], tensors[2], tensors[3], &size, &executor);
    for (const aclTensor* tensor : tensors) aclDestroyTensor(tensor);
    if (status == 0) {
      EXPECT_EQ(aclnnModulate(nullptr, size, executor, environment.stream()), 0);
    }
    return status;
  };
  EXPECT_EQ(answer({1, 0, 1}, {1, 1}, {1, 1, 1}), 161002);
  const std::string message = TakeErrorMessage();
  EXPECT_NE(message.find("parameter scale"), std::string::npos) << message;
  EXPECT_NE(message.find("accepted: both or none."), std::string::npos) << message;
  EXPECT_EQ(answer({0, 1, 1}, {0, 1}, {0, 1, 1}), 0);
  EXPECT_EQ(answer({1, 0, 0}, {1, 0}, {1, 1, 0}), 0);
}

}  // namespace
}  // namespace portacl::testing
