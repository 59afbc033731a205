// Sets environment variables around the library: see environment.h.
// SPDX-License-Identifier: Apache-2.0
#include "environment.h"

#include <cstdlib>

#include "gtest/gtest.h"

namespace portacl::testing {
namespace {

constexpr const char* kKnownVariables[] = {
    "PORTACL_SOC",          "PORTACL_ISA",           "PORTACL_NUM_THREADS",       "PORTACL_INDEX_ERRORS",
    "PORTACL_DEVICE_COUNT", "PORTACL_DEVICE_MEMORY", "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_LAUNCH_BLOCKING",
    "PORTACL_ADD_V3",       "PORTACL_PROFILE"};

}  // namespace

ScopedEnvironment::ScopedEnvironment(const Variables& variables, Start start) {
  for (const char* name : kKnownVariables) {
    const char* value = std::getenv(name);
    saved_.emplace_back(name, value != nullptr ? std::optional<std::string>(value) : std::nullopt);
    unsetenv(name);
  }
  for (const Variable& variable : variables) {
    setenv(variable.name.c_str(), variable.value.c_str(), 1);
  }
  aclFinalize();  // an earlier test may have left the library initialised; else this fails harmlessly
  aclGetRecentErrMsg();
  init_status_ = aclInit(nullptr);
  if (init_status_ == ACL_SUCCESS && start == Start::kWithDevice) {
    EXPECT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    device_set_ = true;
    EXPECT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  if (init_status_ == ACL_SUCCESS) {
    aclGetRecentErrMsg();
  }
}

ScopedEnvironment::~ScopedEnvironment() {
  if (stream_ != nullptr) {
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
  }
  if (device_set_) {
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  }
  aclFinalize();
  for (const auto& [name, value] : saved_) {
    if (value) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }
  aclGetRecentErrMsg();
}

}  // namespace portacl::testing
