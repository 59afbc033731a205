// A program that ends in the middle of everything: running, waiting and queued work, nothing destroyed, no
// aclFinalize; then, with an argument, a static object's destructor still uses the library. "late" ends in main,
// "function" by exit in a host function, "callback" by exit in a callback. It must end with code 0.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "support/patience.h"

namespace {

// Never freed: queued work may still use it while the process ends.
std::vector<float>& Memory() {
  static auto* memory = new std::vector<float>(8'000'000, 1.0f);
  return *memory;
}

void Launch(aclrtStream stream) {
  const int64_t n = 2'000'000;
  aclTensor* tensors[4];
  for (int i = 0; i < 4; ++i) {
    tensors[i] = aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, Memory().data() + i * n);
  }
  uint64_t workspace = 0;
  aclOpExecutor* executor = nullptr;
  if (aclnnL1LossBackwardGetWorkspaceSize(tensors[0], tensors[1], tensors[2], 0, tensors[3], &workspace,
                                          &executor) != 0 ||
      aclnnL1LossBackward(nullptr, 0, executor, stream) != 0) {
    std::_Exit(2);
  }
  for (aclTensor* one : tensors) aclDestroyTensor(one);
}

// Made before main and before the library was used, so destroyed after the library's own last moment.
struct LateUser {
  ~LateUser() {
    if (stream == nullptr) return;
    // exit may be called by a thread that has no device.
    bool right = aclrtSetDevice(0) == 0 && aclrtSynchronizeStream(stream) == 0;
    Memory().back() = 7;
    Launch(stream);
    right = right && aclrtSynchronizeStream(stream) == 0 && Memory().back() == 0 &&
            aclrtDestroyStream(stream) == 0;
    if (!right) std::_Exit(3);
  }
  aclrtStream stream = nullptr;
} late_user;

}  // namespace

int main(int argc, char** argv) {
  alarm(portacl::testing::kPatienceSeconds);
  if (aclrtSetDevice(0) != 0) return 2;
  aclrtStream busy = nullptr;
  aclrtStream held = nullptr;
  aclrtStream waiting = nullptr;
  aclrtEvent event = nullptr;
  if (aclrtCreateStream(&busy) != 0 || aclrtCreateStream(&held) != 0 || aclrtCreateStream(&waiting) != 0 ||
      aclrtCreateEvent(&event) != 0) {
    return 2;
  }
  const auto for_ever = [](void*) {
    for (;;) aclrtProcessReport(1000);
  };
  aclrtSubscribeReport(1, waiting);
  if (aclrtLaunchHostFunc(held, for_ever, nullptr) != 0 || aclrtRecordEvent(event, held) != 0 ||
      aclrtStreamWaitEvent(waiting, event) != 0) {
    return 2;
  }
  Launch(waiting);
  for (int i = 0; i < 50; ++i) Launch(busy);
  if (argc > 1) late_user.stream = busy;
  const auto ends = [](void*) { std::exit(0); };
  if (argc > 1 && std::strcmp(argv[1], "function") == 0) {
    if (aclrtLaunchHostFunc(nullptr, ends, nullptr) != 0) return 2;
    for (;;) aclrtSynchronizeStream(nullptr);
  }
  if (argc > 1 && std::strcmp(argv[1], "callback") == 0) {
    if (aclrtSubscribeReport(pthread_self(), nullptr) != 0 ||
        aclrtLaunchCallback(ends, nullptr, ACL_CALLBACK_BLOCK, nullptr) != 0) {
      return 2;
    }
    for (;;) aclrtProcessReport(1000);
  }
  return 0;
}
