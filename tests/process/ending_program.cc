// A program that uses the library while it ends, in one of several ways. It must end with code 0: what goes wrong ends it
// with another one, faults and leaks are found by sanitizers, or by the system.
// Usage: ending_program WAY
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "process/prepared_call.h"
#include "support/patience.h"

namespace {

using portacl::testing::PreparedCall;

[[noreturn]] void Fail(const char* where, const char* what) {
  std::fprintf(stderr, "%s: %s: %s\n", where, what, aclGetRecentErrMsg());
  std::_Exit(1);
}

// Operators on everything that threads keep, on the calling thread and by workers; calls that fail, and their messages.
void UseEverything(const char* where) {
  if (aclrtSetDevice(0) != 0) Fail(where, "aclrtSetDevice");
  for (auto make : {portacl::testing::RepeatedTargets, portacl::testing::WideColumns,
                    portacl::testing::ShortRowsThatLieAcross, portacl::testing::RowsOfBlocksThatLieAcross}) {
    PreparedCall call = make();
    if (!call.CreateTensors() || call.Plan() != 0 || !call.CreateWorkspace()) Fail(where, "phase 1");
    if (call.Execute(nullptr) != 0 || aclrtSynchronizeStream(nullptr) != 0) Fail(where, "phase 2");
    if (!call.Right()) Fail(where, "result");
  }
  if (aclrtMalloc(nullptr, 1, ACL_MEM_MALLOC_HUGE_FIRST) != ACL_ERROR_INVALID_PARAM)
    Fail(where, "aclrtMalloc");
  const char* const message = aclGetRecentErrMsg();
  if (message == nullptr || std::strstr(message, "devPtr") == nullptr) Fail(where, "aclGetRecentErrMsg");
  if (aclrtFree(nullptr) != ACL_ERROR_INVALID_PARAM) Fail(where, "aclrtFree");
}

bool uses_at_exit = false;
const char* exits_from = "";

// Made before the library is used for the first time, so destroyed after everything that the library may have made.
struct Static {
  const char* name;
  ~Static() {
    if (uses_at_exit) UseEverything(name);
    if (std::strcmp(exits_from, name) == 0) std::exit(0);
  }
};
Static made_first{"a static object made first"};

thread_local Static made_first_in_thread{"a thread_local object"};

void AtExit() {
  UseEverything("atexit");
  if (std::strcmp(exits_from, "atexit") == 0) std::exit(0);
}

void StaticObjects() {
  uses_at_exit = true;
  (void)&made_first_in_thread;
  UseEverything("main");
  static Static made_late{"a static object made late"};
  (void)&made_late;
}

void UseAllKeys() {
  pthread_key_t key;
  while (pthread_key_create(&key, nullptr) == 0) {
  }
}

const std::map<std::string, void (*)()> kWays = {
    // The destructors of static and of thread_local objects.
    {"static", StaticObjects},
    // exit() in one of them, and in a function of atexit: the rest is still called.
    {"exit-from-static",
     [] {
       exits_from = "a static object made late";
       StaticObjects();
     }},
    {"exit-from-atexit",
     [] {
       exits_from = "atexit";
       std::atexit(AtExit);
       StaticObjects();
     }},
    {"atexit",
     [] {
       std::atexit(AtExit);
       UseEverything("main");
     }},
    // exit() in a thread that is not the first.
    {"exit-from-thread",
     [] {
       StaticObjects();
       std::thread([] {
         (void)&made_first_in_thread;
         UseEverything("thread");
         std::exit(0);
       }).join();
     }},
    // The first thread ends, others go on.
    {"first-thread-ends",
     [] {
       static pthread_t first;
       first = pthread_self();
       UseEverything("main");
       std::thread([] {
         pthread_join(first, nullptr);
         UseEverything("thread");
         std::exit(0);
       }).detach();
       pthread_exit(nullptr);
     }},
    // The program has taken all keys of pthread_key_create.
    {"no-keys",
     [] {
       UseAllKeys();
       for (int i = 0; i < 50; ++i) std::thread([] { UseEverything("thread"); }).join();
       StaticObjects();
     }},
    // exit() in a host function while the first thread waits for it.
    {"exit-from-host-function",
     [] {
       StaticObjects();
       aclrtStream stream = nullptr;
       const auto end = [](void*) { std::exit(0); };
       if (aclrtCreateStream(&stream) != 0 || aclrtLaunchHostFunc(stream, end, nullptr) != 0)
         Fail("main", "aclrtLaunchHostFunc");
       aclrtSynchronizeDevice();
       for (;;) pause();
     }},
    {"quick-exit",
     [] {
       std::at_quick_exit(AtExit);
       UseEverything("main");
       std::quick_exit(0);
     }},
};

}  // namespace

int main(int argc, char** argv) {
  const auto way = argc == 2 ? kWays.find(argv[1]) : kWays.end();
  if (way == kWays.end()) return 2;
  alarm(portacl::testing::kPatienceSeconds);
  way->second();
  return 0;
}
