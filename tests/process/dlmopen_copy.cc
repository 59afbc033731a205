// A second copy of the library, which dlmopen loads into a namespace with a C library of its own, beside the first one: both
// work, on the program's threads and on their own, and what the program keeps in its threads stays its own.
// Usage: dlmopen_copy PATH-OF-LIBPORTACL
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <pthread.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "acl/acl.h"
#include "aclnn/acl_meta.h"
#include "aclnnop/aclnn_l1_loss_backward.h"

namespace {

[[noreturn]] void Fail(const char* what, const char* why) {
  std::fprintf(stderr, "%s: %s\n", what, why == nullptr ? "" : why);
  std::_Exit(1);
}

template <class Function>
Function* Find(void* library, const char* name, Function*) {
  void* const symbol = dlsym(library, name);
  if (symbol == nullptr) Fail(name, dlerror());
  return reinterpret_cast<Function*>(symbol);
}

#define FUNCTION(name) const auto name##_ = Find(library, #name, static_cast<decltype(&name)>(nullptr))
#define REQUIRE(condition) \
  if (!(condition)) Fail(#condition, aclGetRecentErrMsg_())

void Use(void* library, size_t n) {
  FUNCTION(aclGetRecentErrMsg);
  FUNCTION(aclrtSetDevice);
  FUNCTION(aclrtCreateStream);
  FUNCTION(aclrtDestroyStream);
  FUNCTION(aclrtSynchronizeStream);
  FUNCTION(aclrtLaunchHostFunc);
  FUNCTION(aclrtFree);
  FUNCTION(aclCreateTensor);
  FUNCTION(aclDestroyTensor);
  FUNCTION(aclnnL1LossBackwardGetWorkspaceSize);
  FUNCTION(aclnnL1LossBackward);

  REQUIRE(aclrtSetDevice_(0) == ACL_SUCCESS);
  aclrtStream stream = nullptr;
  REQUIRE(aclrtCreateStream_(&stream) == ACL_SUCCESS);
  std::vector<float> data(4 * n, 2.0f);
  const auto dim = static_cast<int64_t>(n);
  aclTensor* tensors[4];
  for (size_t k = 0; k < 4; ++k) {
    tensors[k] =
        aclCreateTensor_(&dim, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &dim, 1, data.data() + k * n);
    REQUIRE(tensors[k] != nullptr);
  }
  for (size_t i = 0; i < n; ++i) data[n + i] = static_cast<float>(i % 5);
  uint64_t workspace_size = 0;
  aclOpExecutor* executor = nullptr;
  int called = 0;
  REQUIRE(aclrtLaunchHostFunc_(
              stream, [](void* count) { ++*static_cast<int*>(count); }, &called) == ACL_SUCCESS);
  REQUIRE(aclnnL1LossBackwardGetWorkspaceSize_(tensors[0], tensors[1], tensors[2], 2, tensors[3],
                                               &workspace_size, &executor) == ACL_SUCCESS);
  REQUIRE(aclnnL1LossBackward_(nullptr, workspace_size, executor, stream) == ACL_SUCCESS);
  REQUIRE(aclrtSynchronizeStream_(stream) == ACL_SUCCESS);
  REQUIRE(called == 1);
  for (size_t i = 0; i < n; ++i) REQUIRE(data[3 * n + i] == (i % 5 > 2 ? 2.0f : i % 5 < 2 ? -2.0f : 0.0f));
  for (aclTensor* tensor : tensors) aclDestroyTensor_(tensor);
  REQUIRE(aclrtDestroyStream_(stream) == ACL_SUCCESS);
  REQUIRE(aclrtFree_(nullptr) != ACL_SUCCESS);
  REQUIRE(aclGetRecentErrMsg_() != nullptr);
  REQUIRE(aclrtFree_(nullptr) != ACL_SUCCESS);  // a message that nobody asks for
}

constexpr int kKeys = 8;
pthread_key_t keys[kKeys];
int destroyed[kKeys] = {};

struct Libraries {
  void* first;
  void* second;
};

void* UseInThread(void* argument) {
  const auto& libraries = *static_cast<const Libraries*>(argument);
  for (int k = 0; k < kKeys; ++k) pthread_setspecific(keys[k], &destroyed[k]);
  for (const size_t n : {size_t{1000}, size_t{2000000}}) {
    Use(libraries.second, n);
    Use(libraries.first, n);
  }
  for (int k = 0; k < kKeys; ++k) {
    if (pthread_getspecific(keys[k]) != &destroyed[k]) Fail("a value of the program's thread", "changed");
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  setenv("PORTACL_NUM_THREADS", "3", 1);
  for (pthread_key_t& key : keys) {
    if (pthread_key_create(&key, [](void* count) { ++*static_cast<int*>(count); }) != 0) return 2;
  }
  Libraries libraries{dlopen(argv[1], RTLD_NOW | RTLD_LOCAL),
                      dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW | RTLD_LOCAL)};
  if (libraries.first == nullptr || libraries.second == nullptr) Fail("loading", dlerror());
  if (dlsym(libraries.first, "aclInit") == dlsym(libraries.second, "aclInit"))
    Fail("dlmopen", "not a second copy");
  constexpr int kThreads = 20;
  for (int i = 0; i < kThreads; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, UseInThread, &libraries) != 0 || pthread_join(thread, nullptr) != 0)
      return 3;
  }
  UseInThread(&libraries);
  for (const int count : destroyed) {
    if (count != kThreads) Fail("destructors of the program's values", "called for others, or not at all");
  }
  return 0;
}
