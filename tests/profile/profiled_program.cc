// A program of which a profile is taken: two calls on a stream, and an end of the kind that its argument names.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "process/simple_call.h"
#include "support/two_phase.h"

namespace {

constexpr char kText[] = "mine";

// Closes what is open, and has files of its own under those numbers, in which a forked child writes, too.
bool TakesAllDescriptors() {
  for (int number = 3; number < 1024; ++number) close(number);
  std::vector<int> own;
  for (int i = 0; i < 12; ++i) {
    const std::string path = std::string(std::getenv("PORTACL_PROFILE")) + ".own" + std::to_string(i);
    own.push_back(open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  }
  const pid_t child = fork();
  if (child == 0) {
    for (const int number : own) {
      if (write(number, kText, 4) != 4) _exit(1);
    }
    _exit(0);
  }
  int status = 0;
  return waitpid(child, &status, 0) == child && status == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const char* const kind = argc > 1 ? argv[1] : "";
  if (const aclError status = aclInit(nullptr)) {
    std::puts(portacl::testing::TakeErrorMessage().c_str());
    return status == 100000 ? 3 : 4;
  }
  aclrtSetDevice(0);
  aclrtStream stream = nullptr;
  aclrtCreateStream(&stream);
  portacl::testing::SimpleCall call(1000);
  if (!call.Run(stream) || !call.Run(stream)) return 1;
  if (std::strcmp(kind, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      portacl::testing::SimpleCall own(10);
      aclrtStream other = nullptr;
      aclrtCreateStream(&other);
      return own.Run(other) ? 0 : 1;  // through exit, as its parent
    }
    int status = 0;
    if (waitpid(child, &status, 0) != child || status != 0) return 2;
  } else if (std::strcmp(kind, "working") == 0) {
    auto& big = *new portacl::testing::SimpleCall(portacl::testing::kBigCall * 16);  // outlives the end
    if (!big.CreateTensors() || big.Plan() != 0 || big.Execute(stream) != 0) return 2;
    return 0;  // while a worker computes
  } else if (std::strcmp(kind, "full") == 0) {
    const rlimit limit = {512, 512};
    setrlimit(RLIMIT_FSIZE, &limit);
  } else if (std::strcmp(kind, "descriptors") == 0) {
    if (!TakesAllDescriptors()) return 2;
  } else if (std::strcmp(kind, "elsewhere") == 0) {
    if (chdir("/") != 0) return 2;
  } else if (std::strcmp(kind, "twice") == 0) {
    aclrtResetDevice(0);
    aclFinalize();
    if (aclInit(nullptr) != 0) return 2;
  }
  return 0;
}
