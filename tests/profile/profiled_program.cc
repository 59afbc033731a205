// A program of which a profile is taken: two calls on a stream, and an end of the kind that its argument names.
// SPDX-License-Identifier: Apache-2.0
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>

#include "process/simple_call.h"
#include "support/two_phase.h"

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
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {512, 512};
    setrlimit(RLIMIT_FSIZE, &limit);
  } else if (std::strcmp(kind, "twice") == 0) {
    aclrtResetDevice(0);
    aclFinalize();
    if (aclInit(nullptr) != 0) return 2;
  }
  return 0;
}
