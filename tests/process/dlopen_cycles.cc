// Loads the library 200 times, does work on several threads with it, and unloads it each time.
// Usage: dlopen_cycles PATH-OF-A-LIBRARY
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_l1_loss_backward.h"

namespace {

constexpr int kCycles = 200;

[[noreturn]] void Fail(const char* what, int cycle, const char* why) {
  std::printf("cycle %d: %s: %s\n", cycle, what, why == nullptr ? "" : why);
  std::exit(1);
}

template <class Function>
Function* Find(void* library, const char* name, Function*, int cycle) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) Fail(name, cycle, dlerror());
  return reinterpret_cast<Function*>(symbol);
}

#define FUNCTION(name) const auto name##_ = Find(library, #name, static_cast<decltype(&name)>(nullptr), cycle)
#define REQUIRE(condition) \
  if (!(condition)) Fail(#condition, cycle, aclGetRecentErrMsg_())

// The last cycle leaves the device set and the library initialised: ending the process must still work.
void Cycle(const char* path, int cycle, bool tidy) {
  void* const library = dlopen(path, cycle % 2 == 0 ? RTLD_NOW | RTLD_LOCAL : RTLD_LAZY | RTLD_GLOBAL);
  if (library == nullptr) Fail("dlopen", cycle, dlerror());
  FUNCTION(aclGetRecentErrMsg);
  FUNCTION(aclInit);
  FUNCTION(aclFinalize);
  FUNCTION(aclrtSetDevice);
  FUNCTION(aclrtResetDevice);
  FUNCTION(aclrtCreateStream);
  FUNCTION(aclrtDestroyStream);
  FUNCTION(aclrtSynchronizeStream);
  FUNCTION(aclCreateTensor);
  FUNCTION(aclDestroyTensor);
  FUNCTION(aclnnL1LossBackwardGetWorkspaceSize);
  FUNCTION(aclnnL1LossBackward);

  REQUIRE(aclInit_(nullptr) == ACL_SUCCESS);
  REQUIRE(aclrtSetDevice_(0) == ACL_SUCCESS);
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream_(&stream) == ACL_SUCCESS);

  const int64_t dims[] = {200000};
  const auto n = static_cast<size_t>(dims[0]);
  std::vector<float> data[4] = {std::vector<float>(n), std::vector<float>(n), std::vector<float>(n),
                                std::vector<float>(n)};
  aclTensor* tensors[4];
  for (size_t i = 0; i < n; ++i) {
    data[0][i] = static_cast<float>(i % 97);
    data[1][i] = static_cast<float>(i % 5);
    data[2][i] = 2.0f;
  }
  for (int k = 0; k < 4; ++k) {
    tensors[k] = aclCreateTensor_(dims, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, dims, 1, data[k].data());
    REQUIRE(tensors[k] != nullptr);
  }
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  REQUIRE(aclnnL1LossBackwardGetWorkspaceSize_(tensors[0], tensors[1], tensors[2], 0, tensors[3],
                                               &workspace_size, &executor) == ACL_SUCCESS);
  REQUIRE(aclnnL1LossBackward_(nullptr, workspace_size, executor, stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream_(stream) == ACL_SUCCESS);
  for (size_t i = 0; i < n; ++i) {
    const float sign = i % 5 > 2 ? 1.0f : i % 5 < 2 ? -1.0f : 0.0f;
    REQUIRE(data[3][i] == sign * data[0][i]);
  }
  for (aclTensor* tensor : tensors) aclDestroyTensor_(tensor);
  if (tidy) {
    REQUIRE(aclrtDestroyStream_(stream) == ACL_SUCCESS);
    REQUIRE(aclrtResetDevice_(0) == ACL_SUCCESS);
    REQUIRE(aclFinalize_() == ACL_SUCCESS);
  }
  if (dlclose(library) != 0) Fail("dlclose", cycle, dlerror());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  setenv("PORTACL_NUM_THREADS", "2", 1);
  for (int cycle = 0; cycle < kCycles; ++cycle) Cycle(argv[1], cycle, cycle + 1 < kCycles);
  std::printf("%d cycles\n", kCycles);
  return 0;
}
