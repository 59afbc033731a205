// Threads that are cancelled (pthread_cancel) or end themselves (pthread_exit) inside the library's functions: those that
// block come to their end first, or are unwound where they wait for the program; functions of the program may end their
// thread, and the stream goes on.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "process/child_process.h"
#include "process/prepared_call.h"
#include "process/simple_call.h"
#include "support/environment.h"

namespace portacl::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr aclError kOfHostFunctions = 507000;

// Calls one function of the library where the thread may be cancelled.
template <class Call>
auto Cancellable(const Call& call) {
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, nullptr);
  const auto result = call();
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
  return result;
}

// Runs the body in a thread that is cancelled already, and is, wherever it may be: in what Cancellable calls. Returns
// whether the body came to its end.
bool OnCancelledThread(const std::function<void()>& body) {
  struct Start {
    const std::function<void()>& body;
    bool came_to_its_end = false;
  } start{body};
  pthread_t thread;
  const auto run = [](void* argument) -> void* {
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    pthread_cancel(pthread_self());
    auto& of = *static_cast<Start*>(argument);
    of.body();
    of.came_to_its_end = true;
    return nullptr;
  };
  EXPECT_EQ(pthread_create(&thread, nullptr, run, &start), 0);
  void* result = nullptr;
  EXPECT_EQ(pthread_join(thread, &result), 0);
  EXPECT_EQ(result, nullptr);
  return start.came_to_its_end;
}

#define EXPECT_STATUS(call, status) EXPECT_EQ(Cancellable([&] { return (call); }), status) << #call
#define EXPECT_DONE(call) EXPECT_STATUS(call, ACL_SUCCESS)

void Sleep(void* ms) { usleep(static_cast<useconds_t>(reinterpret_cast<intptr_t>(ms)) * 1000); }

// Has the stream do nothing for so long.
void Occupy(aclrtStream stream, intptr_t ms) {
  ASSERT_EQ(aclrtLaunchHostFunc(stream, Sleep, reinterpret_cast<void*>(ms)), 0);
}

// Has the stream do nothing until `done` is set.
void OccupyUntil(aclrtStream stream, std::atomic<bool>& done) {
  const auto wait = [](void* argument) {
    while (!*static_cast<std::atomic<bool>*>(argument)) usleep(100);
  };
  ASSERT_EQ(aclrtLaunchHostFunc(stream, wait, &done), 0);
}

class Cancellation : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(environment_.init_status(), 0);
    ASSERT_EQ(aclrtCreateStream(&stream_), 0);
    ASSERT_EQ(aclrtCreateStream(&other_), 0);
    ASSERT_EQ(aclrtCreateEvent(&event_), 0);
    ASSERT_EQ(aclrtGetCurrentContext(&context_), 0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyEvent(event_), 0);
    EXPECT_EQ(aclrtDestroyStream(stream_), 0);
    EXPECT_EQ(aclrtDestroyStream(other_), 0);
  }

  ScopedEnvironment environment_{{{"PORTACL_NUM_THREADS", "4"}}};
  aclrtContext context_ = nullptr;
  aclrtStream stream_ = nullptr;
  aclrtStream other_ = nullptr;
  aclrtEvent event_ = nullptr;
};

TEST_F(Cancellation, WaitingForAStream) {
  std::atomic<bool> done{false};
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    Occupy(stream_, 20);
    EXPECT_DONE(aclrtSynchronizeStream(stream_));
    Occupy(stream_, 20);
    EXPECT_DONE(aclrtSynchronizeStreamWithTimeout(stream_, kPatience));
    OccupyUntil(stream_, done);
    EXPECT_STATUS(aclrtSynchronizeStreamWithTimeout(stream_, 1), 507046);
    done = true;
    EXPECT_DONE(aclrtSynchronizeDevice());
    Occupy(stream_, 20);
    EXPECT_DONE(aclrtSynchronizeDeviceWithTimeout(kPatience));
    Occupy(stream_, 20);
    void* memory = nullptr;
    EXPECT_DONE(aclrtMalloc(&memory, 100, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_DONE(aclrtFreeWithDevSync(memory));
    Occupy(stream_, 20);
    EXPECT_DONE(aclrtStreamAbort(stream_));
    Occupy(stream_, 20);
    EXPECT_DONE(aclrtDeviceTaskAbort(0, kPatience));
  }));
}

TEST_F(Cancellation, WaitingForAnEvent) {
  std::atomic<bool> done{false};
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    Occupy(stream_, 20);
    EXPECT_DONE(aclrtRecordEvent(event_, stream_));
    EXPECT_DONE(aclrtSynchronizeEvent(event_));
    OccupyUntil(stream_, done);
    EXPECT_DONE(aclrtRecordEvent(event_, stream_));
    EXPECT_STATUS(aclrtSynchronizeEventWithTimeout(event_, 1), 507047);
    EXPECT_DONE(aclrtStreamWaitEvent(other_, event_));
    EXPECT_DONE(aclrtStreamWaitEventWithTimeout(other_, event_, kPatience));
    done = true;
    EXPECT_DONE(aclrtSynchronizeStream(other_));
  }));
}

TEST_F(Cancellation, DestroyingWhatHasWork) {
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    for (const auto destroy : {aclrtDestroyStream, aclrtDestroyStreamForce}) {
      aclrtStream stream = nullptr;
      EXPECT_DONE(aclrtCreateStream(&stream));
      Occupy(stream, 20);
      EXPECT_DONE(destroy(stream));
    }
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;
    EXPECT_DONE(aclrtCreateContext(&context, 0));
    EXPECT_DONE(aclrtCtxGetCurrentDefaultStream(&stream));
    Occupy(stream, 20);
    EXPECT_DONE(aclrtDestroyContext(context));
  }));
}

TEST_F(Cancellation, CopiesAndFills) {
  std::vector<char> from(1 << 20, 7);
  std::vector<char> to(1 << 20, 0);
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    EXPECT_DONE(aclrtMemcpy(to.data(), to.size(), from.data(), from.size(), ACL_MEMCPY_HOST_TO_DEVICE));
    Occupy(stream_, 20);
    // Ordinary memory: done when the call returns.
    EXPECT_DONE(
        aclrtMemcpyAsync(to.data(), to.size(), from.data(), from.size(), ACL_MEMCPY_HOST_TO_DEVICE, stream_));
    EXPECT_EQ(to, from);
    EXPECT_DONE(aclrtMemset(to.data(), to.size(), 1, to.size()));
    EXPECT_DONE(aclrtMemsetAsync(to.data(), to.size(), 1, to.size(), stream_));
    EXPECT_DONE(aclrtSynchronizeStream(stream_));
  }));
}

// The queue holds 16384 tasks; the thread waits for room.
TEST_F(Cancellation, SubmittingToAFullQueue) {
  void* memory = nullptr;
  ASSERT_EQ(aclrtMalloc(&memory, 16, ACL_MEM_MALLOC_HUGE_FIRST), 0);
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    Occupy(stream_, 100);
    for (int i = 0; i < 17000; ++i) {
      if (Cancellable([&] { return aclrtMemsetAsync(memory, 16, 1, 16, stream_); }) != 0) ADD_FAILURE() << i;
    }
    EXPECT_DONE(aclrtSynchronizeStream(stream_));
  }));
  EXPECT_EQ(aclrtFree(memory), 0);
}

TEST_F(Cancellation, NotifiesAndValues) {
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), 0);
  uint64_t value = 0;
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    Occupy(other_, 20);
    EXPECT_DONE(aclrtRecordNotify(notify, other_));
    EXPECT_DONE(aclrtWaitAndResetNotify(notify, stream_, kPatience / 1000));
    EXPECT_DONE(aclrtValueWrite(&value, 5, 0, other_));
    EXPECT_DONE(aclrtValueWait(&value, 5, 1, stream_));
    EXPECT_DONE(aclrtSynchronizeStream(stream_));
  }));
  EXPECT_EQ(aclrtDestroyNotify(notify), 0);
}

// Operators with helpers, and with everything that threads keep.
TEST_F(Cancellation, Operators) {
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    for (int i = 0; i < 20; ++i) {
      SimpleCall big(i % 2 == 0 ? kBigCall : 300000);
      EXPECT_TRUE(Cancellable([&] { return big.Run(stream_); }));
    }
    for (auto make : {RepeatedTargets, WideColumns, ShortRowsThatLieAcross, RowsOfBlocksThatLieAcross}) {
      PreparedCall call = make();
      EXPECT_TRUE(call.CreateTensors());
      EXPECT_DONE(call.Plan());
      EXPECT_TRUE(Cancellable([&] { return call.CreateWorkspace(); }));
      EXPECT_DONE(call.Execute(stream_));
      EXPECT_DONE(aclrtSynchronizeStream(stream_));
      EXPECT_TRUE(call.Right());
    }
  }));
}

TEST_F(Cancellation, WhatReadsFiles) {
  size_t free = 0;
  size_t total = 0;
  int64_t value = 0;
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context_));
    EXPECT_DONE(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total));
    for (int attribute = 0; attribute < 1000; ++attribute) {
      Cancellable([&] { return aclrtGetDeviceInfo(0, static_cast<aclrtDevAttr>(attribute), &value); });
    }
    aclrtUtilizationInfo use{};
    Cancellable([&] { return aclrtGetDeviceUtilizationRate(0, &use); });
    aclrtPhysicalMemProp prop{};
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    aclrtDrvMemHandle handle = nullptr;
    EXPECT_DONE(aclrtMallocPhysical(&handle, 2 << 20, &prop, 0));
    EXPECT_DONE(aclrtFreePhysical(handle));
  }));
}

TEST_F(Cancellation, BlockingLaunches) {
  ScopedEnvironment blocking({{"ASCEND_LAUNCH_BLOCKING", "1"}, {"PORTACL_NUM_THREADS", "2"}});
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), 0);
  SimpleCall call(kBigCall);
  EXPECT_TRUE(OnCancelledThread([&] {
    EXPECT_DONE(aclrtSetCurrentContext(context));
    EXPECT_TRUE(call.CreateTensors());
    EXPECT_DONE(call.Plan());
    Occupy(blocking.stream(), 20);
    EXPECT_DONE(call.Execute(blocking.stream()));
    EXPECT_TRUE(call.Right());
  }));
}

// The first calls of a process, with a configuration file and a log.
TEST(CancellationOfAProcess, AtItsStart) {
  char name[] = "/tmp/portacl-test-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const std::filesystem::path root = name;
  std::ofstream(root / "acl.json") << "{}";
  for (const bool to_files : {false, true}) {
    const ChildResult result = InChild([&] {
      setenv(to_files ? "ASCEND_PROCESS_LOG_PATH" : "ASCEND_LOG_PRINT_TO_STDOUT",
             to_files ? root.c_str() : "1", 1);
      setenv("ASCEND_GLOBAL_LOG_LEVEL", "0", 1);
      const bool ended = OnCancelledThread([&] {
        EXPECT_DONE(aclInit((root / "acl.json").c_str()));
        EXPECT_DONE(aclrtSetDevice(0));
        EXPECT_STATUS(aclrtFree(nullptr), ACL_ERROR_INVALID_PARAM);
        EXPECT_TRUE(Cancellable([&] { return aclGetRecentErrMsg(); }) != nullptr);
        Cancellable([&] {
          aclAppLog(ACL_ERROR, "function", "file", 1, "%d", 1);
          return 0;
        });
        SimpleCall call(kBigCall);
        EXPECT_TRUE(Cancellable([&] { return call.Run(nullptr); }));
        call.DestroyTensors();
        EXPECT_STATUS(aclInit("/nowhere"), 100003);
        EXPECT_DONE(aclrtResetDevice(0));
        EXPECT_DONE(aclFinalize());
      });
      return ended && !::testing::Test::HasFailure() ? 0 : 1;
    });
    EXPECT_TRUE(result.Succeeded()) << result.code << result.out << result.err;
  }
  std::filesystem::remove_all(root);
}

// Cancelled in the middle of waiting: the function returns when it is done, then the thread ends.
TEST_F(Cancellation, InTheMiddle) {
  for (int round = 0; round < 20; ++round) {
    Occupy(stream_, 30);
    struct Shared {
      aclrtContext context;
      aclrtStream stream;
      std::atomic<bool> entered{false};
      std::atomic<bool> returned{false};
    } shared{context_, stream_};
    pthread_t thread;
    const auto body = [](void* argument) -> void* {
      auto& of = *static_cast<Shared*>(argument);
      const bool is_set = aclrtSetCurrentContext(of.context) == 0;
      of.entered = true;  // nothing between here and the call is a place where threads end
      if (is_set && aclrtSynchronizeStream(of.stream) == 0) of.returned = true;
      for (;;) pthread_testcancel();
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, body, &shared), 0);
    while (!shared.entered) usleep(100);
    usleep(static_cast<useconds_t>(round) * 2000);
    ASSERT_EQ(pthread_cancel(thread), 0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    EXPECT_TRUE(shared.returned);
  }
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
}

// aclrtProcessReport waits for the program, perhaps for ever: a cancelled thread leaves it.
TEST_F(Cancellation, EndsAReportThread) {
  for (const int timeout : {-1, 100000}) {
    struct Shared {
      std::atomic<uint64_t> thread{0};
      int timeout;
    } shared;
    shared.timeout = timeout;
    pthread_t thread;
    const auto body = [](void* argument) -> void* {
      auto& of = *static_cast<Shared*>(argument);
      of.thread = pthread_self();
      for (;;) aclrtProcessReport(of.timeout);
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, body, &shared), 0);
    while (shared.thread == 0) usleep(100);
    ASSERT_EQ(aclrtSubscribeReport(shared.thread, stream_), 0);
    std::atomic<int> called{0};
    const auto count = [](void* argument) { ++*static_cast<std::atomic<int>*>(argument); };
    ASSERT_EQ(aclrtLaunchCallback(count, &called, ACL_CALLBACK_BLOCK, stream_), 0);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
    EXPECT_EQ(called, 1);
    usleep(10000);
    ASSERT_EQ(pthread_cancel(thread), 0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    EXPECT_EQ(aclrtUnSubscribeReport(shared.thread, stream_), 0);
  }
}

// What a function of the program does to end its thread.
void Exit(void*) { pthread_exit(nullptr); }
void Cancel(void*) {
  pthread_cancel(pthread_self());
  pthread_testcancel();
}
void CancelAtSystemCall(void*) {
  pthread_cancel(pthread_self());
  for (;;) usleep(1000);
}
void CancelAndReturn(void*) { pthread_cancel(pthread_self()); }

struct Ending {
  const char* name;
  void (*function)(void*);
};
constexpr Ending kEndings[] = {
    {"Exit", Exit}, {"Cancel", Cancel}, {"CancelAtSystemCall", CancelAtSystemCall}};

class UserCode : public Cancellation, public ::testing::WithParamInterface<Ending> {};

TEST_P(UserCode, EndsItsWorker) {
  SimpleCall call(1000);
  ASSERT_TRUE(call.CreateTensors());
  for (int round = 0; round < 50; ++round) {
    call.ClearResult();
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, GetParam().function, nullptr), 0);
    ASSERT_EQ(call.Plan(), 0);
    ASSERT_EQ(call.Execute(stream_), 0);
    ASSERT_EQ(aclrtRecordEvent(event_, stream_), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), 0);
    ASSERT_EQ(aclrtLaunchHostFunc(other_, GetParam().function, nullptr), 0);
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, kPatience), kOfHostFunctions) << round;
    EXPECT_TRUE(call.Right());
    const char* const message = aclGetRecentErrMsg();
    ASSERT_NE(message, nullptr);
    EXPECT_NE(std::string(message).find("ended its thread"), std::string::npos) << message;
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, kPatience), 0);
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(other_, kPatience), kOfHostFunctions);
  }
}

TEST_P(UserCode, EndsTheReportThread) {
  for (const auto block : {ACL_CALLBACK_BLOCK, ACL_CALLBACK_NO_BLOCK}) {
    std::atomic<uint64_t> id{0};
    pthread_t thread;
    const auto body = [](void* argument) -> void* {
      *static_cast<std::atomic<uint64_t>*>(argument) = pthread_self();
      for (;;) aclrtProcessReport(-1);
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, body, &id), 0);
    while (id == 0) usleep(100);
    ASSERT_EQ(aclrtSubscribeReport(id, stream_), 0);
    SimpleCall call(1000);
    ASSERT_TRUE(call.CreateTensors());
    ASSERT_EQ(call.Plan(), 0);
    ASSERT_EQ(aclrtLaunchCallback(GetParam().function, nullptr, block, stream_), 0);
    ASSERT_EQ(call.Execute(stream_), 0);
    void* result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, kPatience),
              block == ACL_CALLBACK_BLOCK ? kOfHostFunctions : 0);
    EXPECT_TRUE(call.Right());
    EXPECT_EQ(aclrtUnSubscribeReport(id, stream_), 0);
  }
}

INSTANTIATE_TEST_SUITE_P(Ways, UserCode, ::testing::ValuesIn(kEndings),
                         [](const auto& one) { return std::string(one.param.name); });

// A worker that was cancelled but went on is cancelled in no function of the library.
TEST_F(Cancellation, OfAWorkerThatGoesOn) {
  for (int round = 0; round < 20; ++round) {
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, CancelAndReturn, nullptr), 0);
    SimpleCall call(kBigCall);
    ASSERT_TRUE(call.Run(stream_));
  }
}

// A function that is called at the start or the end.
TEST(CancellationOfAProcess, InFunctionsOfTheStartAndTheEnd) {
  const ChildResult result = InChild([] {
    static bool ends_thread = true;
    const auto start = [](const char*, size_t, void*) -> aclError {
      if (ends_thread) pthread_exit(nullptr);
      return 0;
    };
    const auto end = [](void*) -> aclError {
      if (ends_thread) pthread_exit(nullptr);
      return 0;
    };
    const auto in_thread = [](void* (*body)(void*)) {
      pthread_t thread;
      return pthread_create(&thread, nullptr, body, nullptr) == 0 && pthread_join(thread, nullptr) == 0;
    };
    const auto init = [](void*) -> void* {
      aclInit(nullptr);
      std::_Exit(10);
    };
    const auto finalize = [](void*) -> void* {
      aclFinalize();
      std::_Exit(11);
    };
    if (aclInitCallbackRegister(ACL_REG_TYPE_OTHER, start, nullptr) != 0) return 1;
    if (!in_thread(init)) return 2;
    // Nothing was started.
    if (aclFinalize() == 0) return 3;
    ends_thread = false;
    if (aclInit(nullptr) != 0) return 4;
    if (aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, end, nullptr) != 0) return 5;
    ends_thread = true;
    if (!in_thread(finalize)) return 6;
    ends_thread = false;
    if (aclInit(nullptr) != 0) return 7;
    return aclFinalize() == 0 ? 0 : 8;
  });
  EXPECT_TRUE(result.Succeeded()) << result.code << result.out << result.err;
}

}  // namespace
}  // namespace portacl::testing
