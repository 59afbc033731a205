// A forked child can use the library, whatever the parent's threads were doing.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "acl/runtime_fixture.h"
#include "acl/stream/graph.h"
#include "base/process/fork.h"

#if PORTACL_TSAN
#define SKIP_UNDER_TSAN GTEST_SKIP() << "this sanitizer supports no threads in a forked child"
#else
#define SKIP_UNDER_TSAN
#endif

#if PORTACL_ASAN
// Children end by exit, where the leak checker would miss the threads that are not there.
extern "C" __attribute__((visibility("default"))) const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif

namespace {

using ForkTest = RuntimeTest;

// Runs `body` in a child, which ends by the alarm if it hangs; returns what the body returned, or -signal.
template <class Body>
int InChild(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(kPatienceSeconds);
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

std::atomic<bool> initialises{false};

int InitialisedSlowly() {
  static const int value = [] {
    initialises = true;
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return 7;
  }();
  return value;
}

// Another thread is in the middle of what the library initialises at its first use.
TEST_F(ForkTest, AFirstUseUnderWay) {
  SKIP_UNDER_TSAN;
  ASSERT_TRUE(portacl::InitialiseBeforeFork([] { InitialisedSlowly(); }));
  std::thread other([] { InitialisedSlowly(); });
  while (!initialises) std::this_thread::yield();
  EXPECT_EQ(InChild([] { return InitialisedSlowly(); }), 7);
  other.join();
}

// Another thread was about to replace tasks of a graph, and an execution ran.
TEST_F(ForkTest, AGraphInUse) {
  SKIP_UNDER_TSAN;
  Gate runs;
  ASSERT_EQ(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL), ACL_SUCCESS);
  runs.Close(stream_);
  aclmdlRI graph = nullptr;
  ASSERT_EQ(aclmdlRICaptureEnd(stream_, &graph), ACL_SUCCESS);
  ASSERT_EQ(aclmdlRIExecuteAsync(graph, stream_), ACL_SUCCESS);
  runs.WaitUntilEntered();
  Gate changes;
  std::thread other([&] { portacl::FindGraph(graph)->WithTasks([&] { changes.Wait(); }); });
  changes.WaitUntilEntered();
  EXPECT_EQ(InChild([&] {
              return aclmdlRISetName(graph, "forked") == 0 && portacl::FindGraph(graph)->executions == 0 ? 0
                                                                                                         : 1;
            }),
            0);
  changes.Open();
  other.join();
  runs.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclmdlRIDestroy(graph), ACL_SUCCESS);
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

// What a process came to that ends by itself, by its alarm at the latest; what does not end is killed, and counts as
// SIGKILL.
int EndOf(pid_t child, int seconds = 2 * kPatienceSeconds) {
  int status = 0;
  for (int i = 0; i < 100 * seconds; ++i) {
    const pid_t ended = waitpid(child, &status, WNOHANG);
    if (ended == child) return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
    if (ended < 0) return -1000;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  kill(child, SIGKILL);
  waitpid(child, &status, 0);
  return -SIGKILL;
}

// The wait for an event holds a stream in the child as in any process; 0, or the number of the line.
int WaitsHold(aclrtStream stream) {
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  STEP(aclrtCreateStream(&other) == 0 && aclrtCreateEvent(&event) == 0);
  for (int i = 0; i < 3; ++i) {
    Gate gate;
    L1Call call(kSmall);
    gate.Close(other);
    STEP(aclrtRecordEvent(event, other) == 0);
    STEP(aclrtStreamWaitEvent(stream, event) == 0);
    STEP(call.Launch(stream) == 0);
    gate.WaitUntilEntered();
    STEP(call.IsUntouched());
    gate.Open();
    const aclError status = aclrtSynchronizeStream(stream);
    STEP(status == 0 || (i == 0 && status == ACL_ERROR_RT_STREAM_NOT_COMPLETE));
    STEP(call.IsDone());
  }
  STEP(aclrtDestroyEvent(event) == 0 && aclrtDestroyStream(other) == 0);
  return 0;
}

// A function of the program that forks: the child does `in_child`, which ends it or returns an exit status that
// is kept for when the library has been returned to.
struct Forking {
  explicit Forking(std::function<void()> what) : in_child(std::move(what)) {}
  static void Call(void* argument) {
    auto* self = static_cast<Forking*>(argument);
    self->child = fork();
    if (self->child == 0) self->in_child();
  }
  std::function<void()> in_child;
  pid_t child = -1;
};

// A callback forks; the child, which has returned from it, uses everything, and so does the parent.
void ForkInCallback(aclrtStream stream, aclrtCallbackBlockType type) {
  const auto this_thread = static_cast<uint64_t>(pthread_self());
  ASSERT_EQ(aclrtSubscribeReport(this_thread, stream), ACL_SUCCESS);
  Forking function([] { alarm(kPatienceSeconds); });
  ASSERT_EQ(aclrtLaunchCallback(Forking::Call, &function, type, stream), ACL_SUCCESS);
  ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  if (function.child == 0) {
    const int line = WaitsHold(stream);
    _exit(line != 0 ? line : UseEverything(stream));
  }
  EXPECT_EQ(EndOf(function.child), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
  EXPECT_EQ(WaitsHold(stream), 0);
  ASSERT_EQ(aclrtUnSubscribeReport(this_thread, stream), ACL_SUCCESS);
}

TEST_F(ForkTest, InABlockingCallback) {
  SKIP_UNDER_TSAN;
  ForkInCallback(stream_, ACL_CALLBACK_BLOCK);
}

TEST_F(ForkTest, InANonBlockingCallback) {
  SKIP_UNDER_TSAN;
  ForkInCallback(stream_, ACL_CALLBACK_NO_BLOCK);
}

TEST_F(ForkTest, InAHostFunction) {
  SKIP_UNDER_TSAN;
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  const aclrtStream stream = stream_;
  const auto use_everything = [context, stream] {
    alarm(kPatienceSeconds);
    int line = aclrtSetCurrentContext(context) == 0 ? WaitsHold(stream) : 255;
    if (line == 0) line = UseEverything(stream);
    return line;
  };
  // The stream that the parent's function holds is free in the child. It ends by _exit, by exit, or by
  // returning: then it is a process whose last thread has ended.
  Forking by_underscore_exit([use_everything] { _exit(use_everything()); });
  Forking by_exit([use_everything] { std::exit(use_everything()); });
  Forking by_return([use_everything] {
    if (const int line = use_everything()) _exit(line);
  });
  Forking by_return_at_once([] { alarm(kPatienceSeconds); });
  // Work that it leaves behind is done first.
  static int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  Forking by_return_with_work([context, stream] {
    alarm(kPatienceSeconds);
    aclrtSetCurrentContext(context);
    aclrtLaunchHostFunc(
        stream,
        [](void*) {
          std::this_thread::sleep_for(std::chrono::milliseconds(200));
          if (write(pipe_ends[1], "x", 1) != 1) _exit(9);
        },
        nullptr);
  });
  for (Forking* one : {&by_underscore_exit, &by_exit, &by_return, &by_return_at_once, &by_return_with_work}) {
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, Forking::Call, one), ACL_SUCCESS);
    L1Call behind(kSmall);
    ASSERT_EQ(behind.Launch(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_EQ(EndOf(one->child), 0);
    EXPECT_TRUE(behind.IsDone());
  }
  char byte = 0;
  EXPECT_EQ(read(pipe_ends[0], &byte, 1), 1);
  EXPECT_EQ(byte, 'x');
  EXPECT_EQ(close(pipe_ends[0]) + close(pipe_ends[1]), 0);
}

// Workers block all signals; a process that one of them has forked must not, or nothing but SIGKILL ends it.
TEST_F(ForkTest, SignalsReachAChildOfAHostFunction) {
  SKIP_UNDER_TSAN;
  Forking by_alarm([] {
    alarm(1);
    for (;;) pause();
  });
  Forking by_mask([] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (const int one : {SIGALRM, SIGTERM, SIGINT, SIGCHLD}) {
      if (sigismember(&blocked, one) != 0) _exit(1);
    }
    _exit(sigismember(&blocked, SIGUSR1) == 1 ? 0 : 2);  // as in the thread that started the worker
  });
  WaitForWorkersToEnd();  // those that this thread did not start
  sigset_t own;
  sigset_t before;
  sigemptyset(&own);
  sigaddset(&own, SIGUSR1);
  pthread_sigmask(SIG_BLOCK, &own, &before);
  for (Forking* one : {&by_mask, &by_alarm}) {
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, Forking::Call, one), ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  EXPECT_EQ(EndOf(by_mask.child), 0);
  EXPECT_EQ(EndOf(by_alarm.child), -SIGALRM);
}

// A child of a child, each forked in a host function.
TEST_F(ForkTest, InAHostFunctionOfAForkedChild) {
  SKIP_UNDER_TSAN;
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  const aclrtStream stream = stream_;
  Forking inner([] { alarm(kPatienceSeconds); });
  Forking outer([&, context, stream] {
    alarm(3 * kPatienceSeconds);
    if (aclrtSetCurrentContext(context) != 0) _exit(1);
    if (aclrtLaunchHostFunc(stream, Forking::Call, &inner) != 0) _exit(2);
    const aclError status = aclrtSynchronizeStream(stream);
    if (status != ACL_SUCCESS && status != ACL_ERROR_RT_STREAM_NOT_COMPLETE) _exit(3);
    _exit(EndOf(inner.child) == 0 && WaitsHold(stream) == 0 ? 0 : 4);
  });
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Forking::Call, &outer), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(EndOf(outer.child, 4 * kPatienceSeconds), 0);
}

// In a function of the start or of the end, the child goes on in it, and comes to the end of the call.
class ForkInInitTest : public ::testing::Test {
 protected:
  static inline pid_t child;
  static inline pid_t parent;
  static aclError AtStart(const char*, size_t, void* in_function) {
    if (getpid() == parent && child < 0) {
      child = fork();
      if (child == 0) {
        alarm(kPatienceSeconds);
        if (in_function != nullptr && Use() != 0) _exit(99);
      }
    }
    return ACL_SUCCESS;
  }
  static aclError AtEnd(void* in_function) { return AtStart(nullptr, 0, in_function); }
  static int Use() {
    aclrtStream stream = nullptr;
    L1Call large(kLarge);
    STEP(aclrtSetDevice(0) == 0 && aclrtCreateStream(&stream) == 0);
    STEP(WaitsHold(stream) == 0);
    STEP(large.Launch(stream) == 0 && aclrtSynchronizeStream(stream) == 0 && large.IsDone());
    STEP(aclrtDestroyStream(stream) == 0 && aclrtResetDevice(0) == 0);
    return 0;
  }
  void SetUp() override {
    child = -1;
    parent = getpid();
  }
};

TEST_F(ForkInInitTest, AtTheStartAndAtTheEnd) {
  SKIP_UNDER_TSAN;
  char used = 0;
  for (const bool at_start : {true, false}) {
    for (void* in_function : {static_cast<void*>(nullptr), static_cast<void*>(&used)}) {
      for (const bool at_once : {false, true}) {
        if (at_once && !at_start) continue;
        child = -1;
        if (at_once) {
          ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        }
        if (at_start) {
          ASSERT_EQ(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, AtStart, in_function), ACL_SUCCESS);
        } else {
          ASSERT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, AtEnd, in_function), ACL_SUCCESS);
        }
        if (!at_once) {
          ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
        }
        const int line = Use();
        const bool ended = aclFinalize() == ACL_SUCCESS;
        // Once more: what was begun before the fork is whole in both.
        const bool again = aclInit(nullptr) == ACL_SUCCESS && Use() == 0 && aclFinalize() == ACL_SUCCESS;
        if (getpid() != parent) _exit(line != 0 ? line : ended && again ? 0 : 98);
        EXPECT_EQ(line, 0);
        EXPECT_TRUE(ended && again);
        EXPECT_EQ(EndOf(child), 0) << at_start << (in_function != nullptr) << at_once;
        if (at_start) {
          ASSERT_EQ(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, AtStart), ACL_SUCCESS);
        } else {
          ASSERT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, AtEnd), ACL_SUCCESS);
        }
      }
    }
  }
}

// A thread that ends the library, and stops in a function of the end, stays with the parent: the child can end the
// library by itself.
TEST_F(ForkInInitTest, WhileAnotherThreadIsInAFunctionOfTheEnd) {
  SKIP_UNDER_TSAN;
  static Gate* gate = nullptr;
  Gate at_end;
  gate = &at_end;
  const auto stops = [](void*) -> aclError {
    if (getpid() == parent) gate->Wait();
    return ACL_SUCCESS;
  };
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  ASSERT_EQ(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, stops, nullptr), ACL_SUCCESS);
  std::thread ending([] { EXPECT_EQ(aclFinalize(), ACL_SUCCESS); });
  at_end.WaitUntilEntered();
  EXPECT_EQ(InChild([] {
              STEP(Use() == 0);
              STEP(aclFinalize() == ACL_SUCCESS);
              STEP(aclInit(nullptr) == ACL_SUCCESS);
              return 0;
            }),
            0);
  at_end.Open();
  ending.join();
  ASSERT_EQ(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, stops), ACL_SUCCESS);
}

// The same for a thread that destroys a stream: the child does not wait for it.
TEST_F(ForkTest, WhileAnotherThreadDestroysAStream) {
  SKIP_UNDER_TSAN;
  aclrtStream other = NewStream();
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  Gate gate;
  gate.Close(other);
  gate.WaitUntilEntered();
  std::thread destroyer([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  });
  while (aclrtSynchronizeStreamWithTimeout(other, 0) != ACL_ERROR_RT_STREAM_CONTEXT)
    std::this_thread::yield();
  EXPECT_EQ(InChild([&] { return UseEverything(stream_); }), 0);
  gate.Open();
  destroyer.join();
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

// Forks in host functions and callbacks, in whatever state the other threads' streams are.
TEST_F(ForkTest, InFunctionsAmongBusyThreads) {
  SKIP_UNDER_TSAN;
#if PORTACL_ASAN
  GTEST_SKIP() << "this sanitizer's own locks do not survive a fork among busy threads";
#endif
  const Watchdog watchdog(600);
  std::atomic<bool> stop{false};
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      L1Call small(kSmall, t);
      L1Call large(kLarge, t);
      const aclrtEvent event = NewEvent();
      while (!stop) {
        const aclrtStream stream = NewStream();
        ASSERT_EQ(small.Launch(stream), ACL_SUCCESS);
        ASSERT_EQ(large.Launch(stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtRecordEvent(event, stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtStreamWaitEvent(stream, event), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream), ACL_SUCCESS);
        ASSERT_EQ(aclrtDestroyStream(stream), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
    });
  }
  const auto use = [context] {
    alarm(kPatienceSeconds);
    L1Call small(kSmall);
    L1Call large(kLarge);
    aclrtStream fresh = nullptr;
    STEP(aclrtSetCurrentContext(context) == 0 && aclrtCreateStream(&fresh) == 0);
    STEP(WaitsHold(fresh) == 0);
    STEP(small.Launch(fresh) == 0 && large.Launch(fresh) == 0 && aclrtSynchronizeStream(fresh) == 0);
    STEP(small.IsDone() && large.IsDone() && aclrtDestroyStream(fresh) == 0);
    return 0;
  };
  ASSERT_EQ(aclrtSubscribeReport(static_cast<uint64_t>(pthread_self()), stream_), ACL_SUCCESS);
  for (int i = 0; i < 12; ++i) {
    Forking function([use, i] {
      const int line = use();
      if (line != 0 || i % 2 == 0) _exit(line);
    });
    if (i % 4 < 2) {
      ASSERT_EQ(aclrtLaunchHostFunc(stream_, Forking::Call, &function), ACL_SUCCESS);
    } else {
      ASSERT_EQ(aclrtLaunchCallback(Forking::Call, &function,
                                    i % 8 < 4 ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, stream_),
                ACL_SUCCESS);
      ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
      if (function.child == 0) _exit(use());
    }
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    ASSERT_EQ(EndOf(function.child), 0) << i;
  }
  ASSERT_EQ(aclrtUnSubscribeReport(static_cast<uint64_t>(pthread_self()), stream_), ACL_SUCCESS);
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
