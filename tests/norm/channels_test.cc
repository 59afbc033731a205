// Batch norm and group norm, and their gradients, from their descriptions.
// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aclnnop/families/norm.h"
#include "gtest/gtest.h"
#include "operators/norms.h"

namespace portacl::testing {
namespace {

PORTACL_OPERATOR_TESTS(Channels, ChannelOperators());

// Channels that are no one dim by their strides are refused, not read as if they were.
TEST(GroupNormBackward, ChannelsOfTwoDims) {
  const int64_t image[] = {1, 6, 2}, groups[] = {1, 2}, two[] = {2, 3}, dense[] = {3, 1}, across[] = {1, 2};
  const auto tensor = [](const int64_t* shape, uint64_t rank, const int64_t* strides, float* data) {
    return aclCreateTensor(shape, rank, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, rank, data);
  };
  std::vector<float> numbers(12, 1);
  aclTensor* const x = tensor(image, 3, nullptr, numbers.data());
  aclTensor* const mean = tensor(groups, 2, nullptr, numbers.data());
  const bool all[] = {true, true, true};
  aclBoolArray* const mask = aclCreateBoolArray(all, 3);
  for (const int64_t* strides : {dense, across}) {
    aclTensor* const gamma = tensor(two, 2, strides, numbers.data());
    uint64_t size = 0;
    aclOpExecutor* executor = nullptr;
    EXPECT_EQ(aclnnGroupNormBackwardGetWorkspaceSize(x, x, mean, mean, gamma, 1, 6, 2, 2, mask, x, gamma,
                                                     gamma, &size, &executor),
              strides == dense ? 0 : 561103);
    aclDestroyTensor(gamma);
  }
  for (const aclTensor* one : {x, mean}) aclDestroyTensor(one);
  aclDestroyBoolArray(mask);
}

}  // namespace
}  // namespace portacl::testing
