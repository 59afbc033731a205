// A forked child can use the library, whatever the parent's threads were doing.
// SPDX-License-Identifier: Apache-2.0
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "acl/runtime_fixture.h"

#if PORTACL_TSAN
#define SKIP_UNDER_TSAN GTEST_SKIP() << "this sanitizer supports no threads in a forked child"
#else
#define SKIP_UNDER_TSAN
#endif

namespace {

using ForkTest = RuntimeTest;

// Runs `body` in a child, which ends by the alarm if it hangs; returns what the body returned, or -signal.
template <class Body>
int InChild(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body());
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

// Streams, events, host functions and large operators; 0, or the number of the line that went wrong.
int UseEverything(aclrtStream inherited) {
#define STEP(condition) \
  if (!(condition)) return __LINE__ % 256
  aclrtStream fresh = nullptr;
  aclrtEvent event = nullptr;
  L1Call small(kSmall);
  L1Call large(2'000'000);
  STEP(aclrtCreateStream(&fresh) == 0);
  STEP(aclrtCreateEvent(&event) == 0);
  for (aclrtStream stream : {inherited, fresh, static_cast<aclrtStream>(nullptr)}) {
    small.Clear();
    large.Clear();
    CallLog log;
    LogEntry entry{&log, 1};
    STEP(small.Launch(stream) == 0);
    STEP(large.Launch(stream) == 0);
    STEP(aclrtLaunchHostFunc(stream, LogEntry::Call, &entry) == 0);
    STEP(aclrtRecordEvent(event, stream) == 0);
    STEP(aclrtStreamWaitEvent(fresh, event) == 0);
    STEP(aclrtSynchronizeEvent(event) == 0);
    STEP(aclrtSynchronizeStream(stream) == 0);
    STEP(aclrtSynchronizeStream(fresh) == 0);
    STEP(small.IsDone() && large.IsDone() && log.values().size() == 1);
  }
  void* memory = nullptr;
  STEP(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtFree(memory) == 0);
  STEP(aclrtDestroyEvent(event) == 0);
  STEP(aclrtDestroyStream(fresh) == 0);
  STEP(aclrtDestroyStream(inherited) == 0);
  STEP(aclrtResetDevice(0) == 0);
  STEP(aclFinalize() == 0);
  return 0;
}

TEST_F(ForkTest, AnIdleLibrary) {
  SKIP_UNDER_TSAN;
  L1Call call(2'000'000);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(InChild([this] { return UseEverything(stream_); }), 0);
  call.Clear();
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
}

TEST_F(ForkTest, WorkUnderWayStaysWithTheParent) {
  SKIP_UNDER_TSAN;
  aclrtStream waiting = NewStream();
  aclrtEvent event = NewEvent();
  Gate gate;
  gate.Close(stream_);
  gate.WaitUntilEntered();
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, event), ACL_SUCCESS);
  EXPECT_EQ(InChild([&] {
              // Told once, for each stream that had work; then everything is usable.
              STEP(aclrtSynchronizeStream(stream_) == ACL_ERROR_RT_STREAM_NOT_COMPLETE);
              STEP(aclrtSynchronizeStream(waiting) == ACL_ERROR_RT_STREAM_NOT_COMPLETE);
              STEP(aclrtSynchronizeStream(stream_) == ACL_SUCCESS);
              STEP(aclrtSynchronizeEvent(event) == ACL_SUCCESS);
              STEP(call.IsUntouched());
              STEP(aclrtDestroyStream(waiting) == ACL_SUCCESS);
              return UseEverything(stream_);
            }),
            0);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(waiting), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(waiting), ACL_SUCCESS);
}

TEST_F(ForkTest, AtAnyMoment) {
  SKIP_UNDER_TSAN;
#if PORTACL_ASAN
  GTEST_SKIP() << "this sanitizer's own locks do not survive a fork among busy threads";
#endif
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      L1Call small(kSmall, t);
      L1Call large(kLarge, t);
      while (!stop) {
        if (aclrtSetDevice(0) != 0) break;
        aclrtStream stream = NewStream();
        void* memory = nullptr;
        EXPECT_EQ(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
        EXPECT_EQ(small.Launch(stream), ACL_SUCCESS);
        EXPECT_EQ(large.Launch(stream), ACL_SUCCESS);
        EXPECT_EQ(aclrtFree(memory), ACL_SUCCESS);
        aclrtStreamQuery(nullptr, nullptr);  // a message for the log of failures
        EXPECT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
        EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
      }
    });
  }
  for (int i = 0; i < 30; ++i) {
    EXPECT_EQ(InChild([] {
                L1Call small(kSmall);
                L1Call large(kLarge);
                STEP(aclrtSetDevice(0) == 0);
                aclrtStream fresh = nullptr;
                STEP(aclrtCreateStream(&fresh) == 0);
                STEP(small.Launch(fresh) == 0);
                STEP(large.Launch(fresh) == 0);
                STEP(aclrtSynchronizeStream(fresh) == 0);
                STEP(small.IsDone() && large.IsDone());
                void* memory = nullptr;
                STEP(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST) == 0 && aclrtFree(memory) == 0);
                STEP(aclrtDestroyStream(fresh) == 0);
                STEP(aclFinalize() == 0 && aclInit(nullptr) == 0);
                return 0;
              }),
              0);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
