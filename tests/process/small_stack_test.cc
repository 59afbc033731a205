// Threads with little stack: the program's own, which call operators, and the library's, which take no less than they need
// however little the program gives its threads.
// SPDX-License-Identifier: Apache-2.0
#include <alloca.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "gtest/gtest.h"
#include "process/child_process.h"
#include "process/prepared_call.h"
#include "process/simple_call.h"
#include "process/thread_of_size.h"

namespace portacl::testing {
namespace {

// Has what follows run by a worker: the stream is not idle.
bool Queue(aclrtStream stream) {
  return aclrtLaunchHostFunc(
             stream, [](void*) { usleep(1000); }, nullptr) == 0;
}

// By a worker and its helpers; false when anything goes wrong.
bool RunPrepared(aclrtStream stream) {
  for (auto make : {RepeatedTargets, WideColumns, ShortRowsThatLieAcross, RowsOfBlocksThatLieAcross}) {
    PreparedCall call = make();
    if (!call.CreateTensors() || call.Plan() != 0 || !call.CreateWorkspace()) return false;
    if (!Queue(stream)) return false;
    if (call.Execute(stream) != 0 || aclrtSynchronizeStreamWithTimeout(stream, kPatience) != 0) return false;
    if (!call.Right()) return false;
  }
  PreparedCall sum = SumOfSquares(3 << 20);
  if (!sum.CreateTensors() || sum.Plan() != 0 || !sum.CreateWorkspace()) return false;
  return Queue(stream) && sum.Execute(stream) == 0 && aclrtSynchronizeStream(stream) == 0 && sum.Right();
}

// As `ulimit -s` does at the start of a program.
bool SetDefaultStack(size_t bytes) {
  pthread_attr_t attributes;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, bytes) != 0) return false;
  const bool is_set = pthread_setattr_default_np(&attributes) == 0;
  pthread_attr_destroy(&attributes);
  return is_set;
}

TEST(SmallStack, OfTheThreadsThatTheLibraryStarts) {
  for (const size_t bytes : {size_t{32} << 10, size_t{100} << 10}) {
    const ChildResult result = InChild([&] {
      if (!SetDefaultStack(bytes)) return 1;
      setenv("PORTACL_NUM_THREADS", "4", 1);
      if (aclInit(nullptr) != 0 || aclrtSetDevice(0) != 0) return 2;
      aclrtStream stream = nullptr;
      if (aclrtCreateStream(&stream) != 0) return 3;
      if (!RunPrepared(stream)) return 4;
      SimpleCall big(kBigCall);
      for (int i = 0; i < 5; ++i) {
        if (!Queue(stream) || !big.Run(stream)) return 5;
      }
      // What host functions may use.
      static std::atomic<int> called{0};
      const auto use = [](void*) {
        constexpr size_t kBytes = 900 << 10;
        auto* const room = static_cast<volatile char*>(alloca(kBytes));
        for (size_t i = 0; i < kBytes; i += 1024) room[i] = 1;
        ++called;
      };
      if (aclrtLaunchHostFunc(stream, use, nullptr) != 0 || aclrtSynchronizeStream(stream) != 0) return 6;
      return called == 1 ? 0 : 7;
    });
    EXPECT_TRUE(result.Succeeded()) << bytes << ": " << (result.exited ? "exit code " : "signal ")
                                    << result.code << "\n"
                                    << result.out << result.err;
  }
}

// Everything but the operators' loops, in half of what is promised: the start with a file and a log, failures and their
// messages, streams, events, callbacks, memory, phase 1 and an operator without sums.
TEST(SmallStack, OfAThreadThatCallsTheRuntime) {
  char name[] = "/tmp/portacl-test-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::filesystem::path root = name;
  std::ofstream(root / "acl.json") << R"({"err_msg_mode": "0", "dump": {"list": [1, 2.5, {"a": null}]}})";
  const ChildResult result = InChild([&] {
    setenv("ASCEND_PROCESS_LOG_PATH", root.c_str(), 1);
    setenv("PORTACL_NUM_THREADS", "2", 1);
    const char* wrong = "no thread";
    OnStackOf(kSmallStack / 2, [&] {
      wrong = nullptr;
      const auto expect = [&](bool condition, const char* what) {
        if (!condition && wrong == nullptr) wrong = what;
      };
      expect(aclInit((root / "acl.json").c_str()) == 0, "aclInit");
      expect(aclrtSetDevice(0) == 0, "aclrtSetDevice");
      expect(aclrtFree(nullptr) != 0 && aclGetRecentErrMsg() != nullptr, "messages");
      aclrtStream streams[2] = {};
      aclrtEvent event = nullptr;
      for (aclrtStream& one : streams) expect(aclrtCreateStream(&one) == 0, "aclrtCreateStream");
      expect(aclrtCreateEvent(&event) == 0, "aclrtCreateEvent");
      expect(Queue(streams[0]) && aclrtRecordEvent(event, streams[0]) == 0, "aclrtRecordEvent");
      expect(aclrtStreamWaitEvent(streams[1], event) == 0, "aclrtStreamWaitEvent");
      expect(aclrtSubscribeReport(pthread_self(), streams[1]) == 0, "aclrtSubscribeReport");
      expect(aclrtLaunchCallback([](void*) {}, nullptr, ACL_CALLBACK_BLOCK, streams[1]) == 0,
             "aclrtLaunchCallback");
      expect(aclrtProcessReport(kPatience) == 0, "aclrtProcessReport");
      expect(aclrtSynchronizeDevice() == 0, "aclrtSynchronizeDevice");
      SimpleCall small(1000);
      SimpleCall big(kBigCall);
      expect(small.Run(streams[0]) && big.Run(streams[0]), "operators");
      expect(small.Plan() == 0 && small.Plan() == 0, "phase 1");
      expect(small.Execute(reinterpret_cast<void*>(0x123)) != 0, "phase 2");
      size_t free = 0;
      expect(aclrtGetMemInfo(ACL_HBM_MEM, &free, &free) == 0, "aclrtGetMemInfo");
      expect(aclrtDestroyStreamForce(streams[1]) == 0 && aclrtDestroyStream(streams[0]) == 0,
             "aclrtDestroyStream");
      expect(aclrtDestroyEvent(event) == 0 && aclrtResetDevice(0) == 0 && aclFinalize() == 0, "aclFinalize");
    });
    if (wrong != nullptr) std::fprintf(stderr, "%s\n", wrong);
    return wrong == nullptr ? 0 : 1;
  });
  EXPECT_TRUE(result.Succeeded()) << (result.exited ? "exit code " : "signal ") << result.code << "\n"
                                  << result.out << result.err;
  std::filesystem::remove_all(root);
}

}  // namespace
}  // namespace portacl::testing
