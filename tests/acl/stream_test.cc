// Streams: order, independence, what runs where, waiting, destroying, and every code of their functions.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <thread>

#include "acl/runtime_fixture.h"

namespace {

using StreamTest = RuntimeTest;

TEST_F(StreamTest, SmallCallOnAnIdleStreamIsDoneWhenItReturns) {
  L1Call call(kSmall);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamTest, LargeCallIsDoneAfterSynchronisation) {
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
}

TEST_F(StreamTest, WorkBehindAClosedGateWaits) {
  Gate gate;
  gate.Close(stream_);
  L1Call small(kSmall);
  L1Call large(kLarge);
  ASSERT_EQ(small.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(large.Launch(stream_), ACL_SUCCESS);
  gate.WaitUntilEntered();
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_TRUE(small.IsUntouched());
  EXPECT_TRUE(large.IsUntouched());
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(small.IsDone());
  EXPECT_TRUE(large.IsDone());
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
}

TEST_F(StreamTest, KeepsTheOrderOfEverythingSubmitted) {
  // Each step depends on the one before: fill, operator over the filled data, copy, operator over the copy.
  constexpr int64_t kCount = 30'000;
  Gate gate;
  gate.Close(stream_);
  CallLog log;
  std::vector<LogEntry> entries;
  for (int i = 0; i < 50; ++i) entries.push_back({&log, i});
  L1Call first(kCount, 1);
  L1Call second(kCount, 2);
  const L1Call original = second;
  const size_t bytes = first.out.size() * sizeof(float);
  for (int i = 0; i < 50; ++i) {
    ASSERT_EQ(aclrtMemsetAsync(first.out.data(), bytes, 0x7F, bytes, stream_), ACL_SUCCESS);
    ASSERT_EQ(first.Launch(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemcpyAsync(second.grad.data(), bytes, first.out.data(), bytes,
                               ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
              ACL_SUCCESS);
    ASSERT_EQ(second.Launch(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtMemsetAsync(second.grad.data(), bytes, 0, bytes, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, LogEntry::Call, &entries[static_cast<size_t>(i)]), ACL_SUCCESS);
  }
  EXPECT_TRUE(log.empty());
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(first.IsDone());
  second.grad = first.out;
  EXPECT_TRUE(second.IsDone());
  std::vector<int> expected;
  for (int i = 0; i < 50; ++i) expected.push_back(i);
  EXPECT_EQ(log.values(), expected);
}

TEST_F(StreamTest, StreamsDoNotWaitForEachOther) {
  aclrtStream other = NewStream();
  Gate gate;
  gate.Close(stream_);
  gate.WaitUntilEntered();
  L1Call on_other(kLarge);
  L1Call on_default(kLarge, 1);
  ASSERT_EQ(on_other.Launch(other), ACL_SUCCESS);
  ASSERT_EQ(on_default.Launch(nullptr), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(on_other.IsDone());
  EXPECT_TRUE(on_default.IsDone());
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  gate.Open();
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(StreamTest, AClosedDefaultStreamHoldsNoOther) {
  Gate gate;
  gate.Close(nullptr);
  gate.WaitUntilEntered();
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(StatusOf(nullptr), ACL_STREAM_STATUS_NOT_READY);
}

TEST_F(StreamTest, EveryBusyStreamHasAThreadOfItsOwn) {
  // Host functions that wait for each other would deadlock if streams shared workers.
  constexpr size_t kStreams = 200;
  std::vector<aclrtStream> streams(kStreams);
  std::vector<std::unique_ptr<Gate>> gates;
  for (aclrtStream& one : streams) {
    one = NewStream();
    gates.push_back(std::make_unique<Gate>());
    gates.back()->Close(one);
  }
  for (auto& gate : gates) gate->WaitUntilEntered();
  for (auto& gate : gates) gate->Open();
  for (aclrtStream one : streams) EXPECT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
}

TEST_F(StreamTest, SeveralThreadsMaySubmitToOneStream) {
  constexpr int kThreads = 8;
  constexpr int kEach = 200;
  struct Shared {
    std::atomic<int> inside{0};
    std::atomic<bool> overlapped{false};
    int last[kThreads];
    std::vector<int> calls;
  } shared;
  for (int& one : shared.last) one = -1;
  struct Entry {
    Shared* shared;
    int thread;
    int step;
  };
  std::vector<Entry> entries;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kEach; ++i) entries.push_back({&shared, t, i});
  }
  std::atomic<bool> in_order{true};
  static std::atomic<bool>* order = nullptr;
  order = &in_order;
  const auto function = [](void* argument) {
    auto* entry = static_cast<Entry*>(argument);
    if (entry->shared->inside.fetch_add(1) != 0) entry->shared->overlapped = true;
    int& last = entry->shared->last[entry->thread];
    if (last != entry->step - 1) *order = false;
    last = entry->step;
    entry->shared->inside.fetch_sub(1);
  };
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::vector<std::thread> threads;
  std::atomic<bool> results_right{true};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      L1Call call(kSmall, t);
      for (int i = 0; i < kEach; ++i) {
        ASSERT_EQ(aclrtLaunchHostFunc(stream_, function, &entries[static_cast<size_t>(t * kEach + i)]),
                  ACL_SUCCESS);
        ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
      }
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      if (!call.IsDone()) results_right = false;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_FALSE(shared.overlapped);
  EXPECT_TRUE(in_order);
  EXPECT_TRUE(results_right);
  for (int last : shared.last) EXPECT_EQ(last, kEach - 1);
}

// A cheap task that stops at a gate: stands for an operator that runs on the submitting thread.
class GatedTask final : public portacl::Task {
 public:
  explicit GatedTask(Gate& gate) : gate_(gate) {}
  Outcome Run(portacl::Stream&) noexcept override {
    thread = std::this_thread::get_id();
    gate_.Wait();
    return Outcome::kDone;
  }
  void Finish(portacl::StreamList&) noexcept override {}

  std::thread::id thread;

 private:
  Gate& gate_;
};

TEST_F(StreamTest, ARunningSmallCallIsPartOfTheStream) {
  Gate gate;
  GatedTask task(gate);
  std::thread launcher([&] { portacl::FindStream(stream_)->Submit(&task); });
  gate.WaitUntilEntered();
  L1Call behind(kSmall);
  ASSERT_EQ(behind.Launch(stream_), ACL_SUCCESS);
  EXPECT_TRUE(behind.IsUntouched());
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  const std::thread::id launcher_id = launcher.get_id();
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  launcher.join();
  EXPECT_TRUE(behind.IsDone());
  EXPECT_EQ(task.thread, launcher_id);
}

TEST_F(StreamTest, HostFunctionsNeverRunOnTheLaunchingThread) {
  std::thread::id caller;
  for (int i = 0; i < 20; ++i) {
    ASSERT_EQ(aclrtLaunchHostFunc(
                  stream_, [](void* id) { *static_cast<std::thread::id*>(id) = std::this_thread::get_id(); },
                  &caller),
              ACL_SUCCESS);
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    EXPECT_NE(caller, std::this_thread::get_id());
    EXPECT_NE(caller, std::thread::id());
  }
}

TEST_F(StreamTest, SynchronisationWithTimeout) {
  Gate gate;
  gate.Close(stream_);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(0), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(-2), ACL_ERROR_RT_PARAM_INVALID);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 1000), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(0), ACL_SUCCESS);
}

TEST_F(StreamTest, SynchronisationWaitsOnlyForWhatWasThere) {
  // The first gate is left only when the second one is queued, so the waiting thread, if it came in time, is
  // let go while the stream is held again.
  for (int i = 0; i < 20; ++i) {
    Gate first;
    Gate second;
    first.Close(stream_);
    aclError status = -1;
    std::thread waiter([&] { status = aclrtSynchronizeStreamWithTimeout(stream_, 60'000); });
    std::thread opener([&] {
      second.Close(stream_);
      first.Open();
      second.WaitUntilEntered();
      second.Open();
    });
    waiter.join();
    opener.join();
    EXPECT_EQ(status, ACL_SUCCESS);
    EXPECT_TRUE(first.is_open());
    ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  }
}

TEST_F(StreamTest, SynchronizeDeviceWaitsForAllStreamsOfTheContext) {
  std::vector<aclrtStream> streams(5);
  std::vector<std::unique_ptr<L1Call>> calls;
  for (aclrtStream& one : streams) {
    one = NewStream();
    calls.push_back(std::make_unique<L1Call>(kLarge));
    ASSERT_EQ(calls.back()->Launch(one), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  for (auto& call : calls) EXPECT_TRUE(call->IsDone());
  for (aclrtStream one : streams) EXPECT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
}

TEST_F(StreamTest, DestroyingWaitsForTheWork) {
  Gate gate;
  CallLog log;
  LogEntry entry{&log, 1};
  gate.Close(stream_);
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, LogEntry::Call, &entry), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::thread destroyer([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    EXPECT_TRUE(gate.is_open());
    EXPECT_TRUE(call.IsDone());
    EXPECT_EQ(log.values(), std::vector<int>{1});
  });
  gate.WaitUntilEntered();
  gate.Open();
  destroyer.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_CONTEXT);
  stream_ = nullptr;
}

TEST_F(StreamTest, DestroyingByForceDropsWhatHasNotBegun) {
  Gate gate;
  CallLog log;
  LogEntry entry{&log, 1};
  aclrtEvent event = NewEvent();
  aclrtStream other = NewStream();
  gate.Close(stream_);
  gate.WaitUntilEntered();
  L1Call call(kLarge);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, LogEntry::Call, &entry), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  aclrtContext context = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
  std::thread destroyer([&] {
    ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
    ASSERT_EQ(aclrtDestroyStreamForce(stream_), ACL_SUCCESS);
    EXPECT_TRUE(gate.is_open());
  });
  // A dropped recording counts as complete, so nobody waits for it for ever.
  EXPECT_EQ(aclrtSynchronizeEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  gate.Open();
  destroyer.join();
  stream_ = nullptr;
  EXPECT_TRUE(call.IsUntouched());
  EXPECT_TRUE(log.empty());
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(StreamTest, DestroyingByForceEndsWaiting) {
  aclrtStream waiting = NewStream();
  aclrtStream watching = NewStream();
  aclrtEvent event = NewEvent();
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(waiting, event), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEventWithTimeout(watching, event, 1'000'000), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(waiting), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStreamForce(watching), ACL_SUCCESS);
  EXPECT_FALSE(gate.is_open());
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
}

TEST_F(StreamTest, AFailureIsReportedOnceAtTheNextSynchronisation) {
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) { throw 1; }, nullptr),
            ACL_SUCCESS);
  L1Call call(kSmall);
  ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
  aclGetRecentErrMsg();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_NE(aclGetRecentErrMsg(), nullptr);
  EXPECT_TRUE(call.IsDone());
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_, [](void*) { throw 1; }, nullptr),
            ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
}

// Whatever fails after it, in whichever order two kinds of failures come.
TEST_F(StreamTest, TheFirstFailureIsTheOneReported) {
  const auto throws = [](void*) { throw 1; };
  const aclrtStream other = NewStream();
  const aclrtEvent event = NewEvent();
  Gate gate;
  gate.Close(other);
  ASSERT_EQ(aclrtRecordEvent(event, other), ACL_SUCCESS);
  for (const bool throws_first : {true, false}) {
    if (throws_first) {
      ASSERT_EQ(aclrtLaunchHostFunc(stream_, throws, nullptr), ACL_SUCCESS);
    }
    ASSERT_EQ(aclrtStreamWaitEventWithTimeout(stream_, event, 1), ACL_SUCCESS);
    if (!throws_first) {
      ASSERT_EQ(aclrtLaunchHostFunc(stream_, throws, nullptr), ACL_SUCCESS);
    }
    aclGetRecentErrMsg();
    EXPECT_EQ(aclrtSynchronizeStream(stream_),
              throws_first ? ACL_ERROR_RT_INTERNAL_ERROR : ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    const char* const message = aclGetRecentErrMsg();
    ASSERT_NE(message, nullptr);
    EXPECT_EQ(std::strstr(message, "threw") != nullptr, throws_first) << message;
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS) << "the second is not kept";
  }
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
}

TEST_F(StreamTest, AThreadThatRunsAheadWaitsForRoom) {
  constexpr int kRoom = 16384;
  Gate gate;
  gate.Close(stream_);
  gate.WaitUntilEntered();
  std::atomic<int> submitted{0};
  std::vector<char> memory(8);
  std::thread eager([&] {
    for (int i = 0; i < kRoom + 100; ++i) {
      ASSERT_EQ(aclrtMemsetAsync(memory.data(), 8, i, 8, stream_), ACL_SUCCESS);
      ++submitted;
    }
  });
  while (submitted < kRoom - 1) std::this_thread::yield();  // the gate itself is one task
  EXPECT_LE(submitted, kRoom - 1);
  gate.Open();
  eager.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(static_cast<unsigned char>(memory[0]), (kRoom + 99) & 0xFF);
}

TEST_F(StreamTest, NumbersAndProperties) {
  std::set<int32_t> ids;
  for (int i = 0; i < 10; ++i) {
    aclrtStream one = NewStream();
    int32_t id = -1;
    ASSERT_EQ(aclrtStreamGetId(one, &id), ACL_SUCCESS);
    EXPECT_TRUE(ids.insert(id).second);
    ASSERT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
  }
  aclrtStream made = nullptr;
  const uint32_t flags_wanted = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC;
  ASSERT_EQ(aclrtCreateStreamWithConfig(&made, 3, flags_wanted), ACL_SUCCESS);
  uint32_t priority = 99;
  uint32_t flags = 99;
  EXPECT_EQ(aclrtStreamGetPriority(made, &priority), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetFlags(made, &flags), ACL_SUCCESS);
  EXPECT_EQ(priority, 3u);
  EXPECT_EQ(flags, flags_wanted);
  EXPECT_EQ(aclrtDestroyStream(made), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamGetPriority(nullptr, &priority), ACL_SUCCESS);
  EXPECT_EQ(priority, 0u);
}

TEST_F(StreamTest, Codes) {
  aclrtStream created = nullptr;
  EXPECT_EQ(aclrtCreateStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStreamWithConfig(nullptr, 0, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&created, 8, 0), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtCreateStreamWithConfig(&created, 0, 0x100), ACL_ERROR_RT_PARAM_INVALID);
  for (uint32_t flag : {ACL_STREAM_PERSISTENT, ACL_STREAM_CPU_SCHEDULE, ACL_STREAM_DEVICE_USE_ONLY}) {
    EXPECT_EQ(aclrtCreateStreamWithConfig(&created, 0, flag), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  }
  EXPECT_EQ(created, nullptr);
  EXPECT_EQ(aclrtDestroyStream(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtDestroyStreamForce(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamQuery(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamGetId(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamGetPriority(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtStreamGetFlags(stream_, nullptr), ACL_ERROR_INVALID_PARAM);

  aclrtStream stale = NewStream();
  ASSERT_EQ(aclrtDestroyStream(stale), ACL_SUCCESS);
  int local = 0;
  aclrtEvent event = NewEvent();
  for (aclrtStream wrong : {stale, static_cast<aclrtStream>(&local), static_cast<aclrtStream>(event)}) {
    aclrtStreamStatus status;
    int32_t id;
    uint32_t number;
    char memory[8];
    EXPECT_EQ(aclrtDestroyStream(wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtDestroyStreamForce(wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtSynchronizeStream(wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(wrong, 1), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtStreamQuery(wrong, &status), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtStreamGetId(wrong, &id), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtStreamGetPriority(wrong, &number), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtStreamGetFlags(wrong, &number), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtMemsetAsync(memory, 8, 0, 8, wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtMemcpyAsync(memory, 4, memory + 4, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, wrong),
              ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtRecordEvent(event, wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtResetEvent(event, wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtStreamWaitEvent(wrong, event), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtLaunchHostFunc(wrong, LogEntry::Call, nullptr), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtLaunchCallback(LogEntry::Call, nullptr, ACL_CALLBACK_BLOCK, wrong),
              ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtSubscribeReport(1, wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(aclrtUnSubscribeReport(1, wrong), ACL_ERROR_RT_STREAM_CONTEXT);
    EXPECT_EQ(L1Call(kSmall).Launch(wrong), 361001);
  }
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);

  std::thread([this] {  // this thread has no device
    aclrtStream none = nullptr;
    aclrtStreamStatus status;
    aclrtEvent no_event;
    char memory[8];
    EXPECT_EQ(aclrtCreateStream(&none), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCreateStreamWithConfig(&none, 0, 0), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtCreateEvent(&no_event), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtDestroyStream(stream_), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeStream(nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtStreamQuery(nullptr, &status), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeDevice(), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(1), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtMemsetAsync(memory, 8, 0, 8, nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtLaunchHostFunc(nullptr, LogEntry::Call, nullptr), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(L1Call(kSmall).Launch(nullptr), 361001);
    // A stream by its handle is usable from any thread.
    EXPECT_EQ(aclrtStreamQuery(stream_, &status), ACL_SUCCESS);
    EXPECT_EQ(L1Call(kSmall).Launch(stream_), ACL_SUCCESS);
  })
      .join();
}

TEST_F(StreamTest, CopiesAndFillsInOrder) {
  constexpr size_t kBytes = size_t{1} << 20;
  void* device = nullptr;
  void* pinned = nullptr;
  ASSERT_EQ(aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtMallocHost(&pinned, kBytes), ACL_SUCCESS);
  std::vector<unsigned char> pageable(kBytes, 1);
  auto* bytes = static_cast<unsigned char*>(device);
  auto* host = static_cast<unsigned char*>(pinned);
  bytes[0] = bytes[kBytes - 1] = 9;
  host[0] = host[kBytes - 1] = 2;

  // From pinned memory the call returns while the copy waits.
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtMemcpyAsync(device, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(bytes[0], 9);
  // To pageable memory it returns when the copy, and all before it, is done: the gate has to be opened from
  // elsewhere.
  std::thread opener([&] { gate.Open(); });
  ASSERT_EQ(aclrtMemcpyAsync(pageable.data(), kBytes, device, kBytes, ACL_MEMCPY_DEVICE_TO_HOST, stream_),
            ACL_SUCCESS);
  EXPECT_TRUE(gate.is_open());
  EXPECT_EQ(pageable[0], 2);
  EXPECT_EQ(pageable[kBytes - 1], 2);
  opener.join();

  // From pageable memory, of any size, it is done at return; the source may change.
  pageable.assign(kBytes, 3);
  ASSERT_EQ(aclrtMemcpyAsync(device, kBytes, pageable.data(), kBytes, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(bytes[kBytes - 1], 3);
  host[0] = 4;
  ASSERT_EQ(aclrtMemcpyAsync(device, kBytes, pinned, kBytes, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(bytes[0], 4);
  ASSERT_EQ(aclrtMemcpyAsync(pageable.data(), kBytes, device, kBytes, ACL_MEMCPY_DEFAULT, stream_),
            ACL_SUCCESS);
  EXPECT_EQ(pageable[0], 4);

  ASSERT_EQ(aclrtMemsetAsync(device, kBytes, 0x105, kBytes, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(bytes[0], 5);
  EXPECT_EQ(bytes[kBytes - 1], 5);

  EXPECT_EQ(aclrtMemcpyAsync(device, 8, pinned, 8, ACL_MEMCPY_HOST_TO_HOST, stream_),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtMemcpyAsync(device, 8, pinned, 8, static_cast<aclrtMemcpyKind>(8), stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyAsync(nullptr, 8, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyAsync(device, 8, nullptr, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemcpyAsync(device, 7, pinned, 8, ACL_MEMCPY_HOST_TO_DEVICE, stream_),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemcpyAsync(nullptr, 0, nullptr, 0, ACL_MEMCPY_HOST_TO_DEVICE, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtMemsetAsync(nullptr, 8, 0, 8, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtMemsetAsync(device, 7, 0, 8, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtMemsetAsync(nullptr, 0, 0, 0, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtFree(device), ACL_SUCCESS);
  EXPECT_EQ(aclrtFreeHost(pinned), ACL_SUCCESS);
}

TEST(LaunchBlocking, EveryCallIsDoneAtReturn) {
  setenv("ASCEND_LAUNCH_BLOCKING", "1", 1);
  ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
  unsetenv("ASCEND_LAUNCH_BLOCKING");
  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
  L1Call call(2'000'000);
  ASSERT_EQ(call.Launch(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(call.IsDone());
  // Behind queued work too.
  Gate gate;
  gate.Close(nullptr);
  gate.WaitUntilEntered();
  call.Clear();
  std::thread opener([&] { gate.Open(); });
  ASSERT_EQ(call.Launch(nullptr), ACL_SUCCESS);
  EXPECT_TRUE(gate.is_open());
  EXPECT_TRUE(call.IsDone());
  opener.join();
  std::vector<unsigned char> memory(size_t{1} << 20);
  ASSERT_EQ(aclrtMemsetAsync(memory.data(), memory.size(), 7, memory.size(), nullptr), ACL_SUCCESS);
  EXPECT_EQ(memory.back(), 7);
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  EXPECT_EQ(aclrtStreamQuery(nullptr, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_STREAM_STATUS_COMPLETE);
  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
  EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
}

}  // namespace
