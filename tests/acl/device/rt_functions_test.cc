// runtime/rt.h: devices, streams and memory by the older names, as Triton's back end calls them.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <string>

#include "acl/acl.h"
#include "gtest/gtest.h"
#include "runtime/rt.h"
#include "support/environment.h"
#include "support/two_phase.h"

namespace portacl::testing {
namespace {

TEST(OlderRuntime, ProductAndCores) {
  const ScopedEnvironment environment(
      Variables{{"PORTACL_SOC", "Ascend910B3"}, {"PORTACL_NUM_THREADS", "3"}});
  char name[64] = "unchanged";
  EXPECT_EQ(rtGetSocVersion(name, 11), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_STREQ(name, "unchanged") << "nothing is cut";
  EXPECT_NE(TakeErrorMessage().find("maxLen has the value 11"), std::string::npos);
  EXPECT_EQ(rtGetSocVersion(nullptr, 64), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(rtGetSocVersion(name, 12), RT_ERROR_NONE);
  EXPECT_STREQ(name, "Ascend910B3");
  uint32_t cores = 0;
  EXPECT_EQ(rtGetAiCoreCount(&cores), RT_ERROR_NONE);
  EXPECT_EQ(cores, 3u);
  EXPECT_EQ(rtGetAiCoreCount(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(rtDeviceSetLimit(0, RT_LIMIT_TYPE_STACK_SIZE, 4096), RT_ERROR_NONE);
  EXPECT_NE(rtDeviceSetLimit(7, RT_LIMIT_TYPE_STACK_SIZE, 4096), RT_ERROR_NONE);
  EXPECT_NE(rtDeviceSetLimit(-1, RT_LIMIT_TYPE_STACK_SIZE, 4096), RT_ERROR_NONE);
}

TEST(OlderRuntime, AConfigurationThatIsRefused) {
  const ScopedEnvironment environment(Variables{{"PORTACL_SOC", "nonsense"}},
                                      ScopedEnvironment::Start::kWithoutDevice);
  char name[64] = "unchanged";
  EXPECT_NE(rtGetSocVersion(name, 64), RT_ERROR_NONE);
  EXPECT_STREQ(name, "unchanged");
}

TEST(OlderRuntime, MemoryGoesRoundTrip) {
  const ScopedEnvironment environment(Variables{}, ScopedEnvironment::Start::kWithoutDevice);
  ASSERT_EQ(rtSetDevice(0), RT_ERROR_NONE);
  rtStream_t stream = nullptr;
  ASSERT_EQ(rtStreamCreate(&stream, 0), RT_ERROR_NONE);
  void* device = nullptr;
  void* host = nullptr;
  ASSERT_EQ(rtMalloc(&device, 64, RT_MEMORY_HBM, 0), RT_ERROR_NONE);
  ASSERT_EQ(rtMallocHost(&host, 64, 0), RT_ERROR_NONE);
  const char text[] = "there and back";
  EXPECT_EQ(rtMemcpy(device, 64, text, sizeof text, RT_MEMCPY_HOST_TO_DEVICE), RT_ERROR_NONE);
  EXPECT_EQ(rtMemcpy(host, 64, device, sizeof text, RT_MEMCPY_DEVICE_TO_HOST), RT_ERROR_NONE);
  EXPECT_EQ(std::memcmp(host, text, sizeof text), 0);
  EXPECT_NE(rtMemcpy(host, 4, device, sizeof text, RT_MEMCPY_DEVICE_TO_HOST), RT_ERROR_NONE) << "too small";
  EXPECT_EQ(rtFree(device), RT_ERROR_NONE);
  EXPECT_EQ(rtFreeHost(host), RT_ERROR_NONE);
  EXPECT_EQ(rtStreamDestroy(stream), RT_ERROR_NONE);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
}

}  // namespace
}  // namespace portacl::testing
