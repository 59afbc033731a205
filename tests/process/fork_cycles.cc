// Forks 200 times with work on several threads before and after. Every child computes, on its only thread and on a new
// one, and ends by exit(); so does a child's child.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <thread>

#include "process/simple_call.h"
#include "support/patience.h"

namespace portacl::testing {
namespace {

constexpr int kForks = 200;

// Waits for a child that runs body() and exits with what it returns.
bool ChildSucceeds(const std::function<bool()>& body) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatienceSeconds);
    std::exit(body() ? 0 : 1);
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) return false;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    std::printf("a child ended with status 0x%x\n", static_cast<unsigned>(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool Compute(int variant) {
  SimpleCall big(kBigCall, static_cast<uint32_t>(variant));
  SimpleCall small(100, static_cast<uint32_t>(variant));
  return big.Run(nullptr) && small.Run(nullptr);
}

bool ComputeOnNewThread(int variant) {
  bool right = false;
  std::thread([&] {
    right = aclrtSetDevice(0) == ACL_SUCCESS && Compute(variant) && aclrtResetDevice(0) == ACL_SUCCESS;
  }).join();
  return right;
}

int Run() {
  setenv("PORTACL_NUM_THREADS", "4", 1);
  // A child made before the library did anything starts with everything of its own.
  if (!ChildSucceeds([] {
        return aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0 && Compute(0) && ComputeOnNewThread(1);
      })) {
    std::printf("a child made before the first call fails\n");
    return 1;
  }
  if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) return 1;
  for (int i = 0; i < kForks; ++i) {
    if (!Compute(i)) {
      std::printf("wrong before fork %d\n", i);
      return 1;
    }
    const bool right = ChildSucceeds([i] {
      bool all = Compute(i) && Compute(i + 1);
      if (i % 10 == 0) all = all && ComputeOnNewThread(i);
      if (i % 10 == 1) all = all && ChildSucceeds([i] { return Compute(i); });
      // A fresh start in the child.
      if (i % 10 == 2)
        all = all && aclrtResetDevice(0) == 0 && aclFinalize() == 0 && aclInit(nullptr) == 0 &&
              aclrtSetDevice(0) == 0 && Compute(i);
      return all;
    });
    if (!right || !Compute(i)) {
      std::printf("wrong at fork %d\n", i);
      return 1;
    }
  }
  std::printf("%d forks\n", kForks);
  return aclrtResetDevice(0) == ACL_SUCCESS && aclFinalize() == ACL_SUCCESS ? 0 : 1;
}

}  // namespace
}  // namespace portacl::testing

int main() { return portacl::testing::Run(); }
