// Streams: order, independence, what runs where, waiting, destroying, and every code of their functions.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstring>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <utility>

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

TEST_F(StreamTest, ARunningSmallCallIsPartOfTheStream) {
  Gate gate;
  GatedTask task(gate);
  std::thread launcher([&] { portacl::FindStream(stream_).Submit(&task); });
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
    std::thread waiter([&] { status = aclrtSynchronizeStreamWithTimeout(stream_, kPatience); });
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

TEST_F(StreamTest, SynchronizeDeviceWaitsOnlyForWhatWasThere) {
  const Watchdog watchdog;
  aclrtStream later = NewStream();
  bool ended_early = false;
  // The thread may come late to its call, and then rightly waits for both gates; it may come late from it, too.
  for (int attempt = 0; attempt < 100 && !ended_early; ++attempt) {
    Gate first;
    Gate second;
    first.Close(stream_);
    first.Close(later);
    first.WaitUntilEntered();
    std::atomic<bool> returned{false};
    aclrtContext context = nullptr;
    ASSERT_EQ(aclrtGetCurrentContext(&context), ACL_SUCCESS);
    std::thread waiter([&] {
      ASSERT_EQ(aclrtSetCurrentContext(context), ACL_SUCCESS);
      EXPECT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
      returned = true;
    });
    LetOthersWait();
    second.Close(later);
    EXPECT_FALSE(returned);
    first.Open();
    for (int i = 0; i < 500 && !returned; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ended_early = returned;
    second.Open();
    waiter.join();
  }
  EXPECT_TRUE(ended_early);
  EXPECT_EQ(aclrtDestroyStream(later), ACL_SUCCESS);
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

TEST_F(StreamTest, AHostFunctionNeedsNoRoom) {
  const Watchdog watchdog;
  struct Filler {
    aclrtStream stream;
    unsigned char byte;
    aclError first_failure;
  } filler{stream_, 0, ACL_SUCCESS};
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* argument) {
                  auto* self = static_cast<Filler*>(argument);
                  for (int i = 0; i < kRoom + 100; ++i) {
                    const aclError status = aclrtMemsetAsync(&self->byte, 1, i, 1, self->stream);
                    if (self->first_failure == ACL_SUCCESS) self->first_failure = status;
                  }
                },
                &filler),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);  // for the function
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);  // for what it has submitted
  EXPECT_EQ(filler.first_failure, ACL_SUCCESS);
  EXPECT_EQ(filler.byte, (kRoom + 99) & 0xFF);
}

// What a host function may not wait for, because that waits for it: refused at once, by a message that names the
// function, and nothing is destroyed.
TEST_F(StreamTest, AHostFunctionDoesNotWaitForItself) {
  const Watchdog watchdog;
  struct Tried {
    aclrtStream stream;
    aclrtContext context;
    void* memory;
    std::vector<std::pair<const char*, aclError>> refused, allowed;
    std::vector<std::string> messages;
    bool operator_done_at_once = false;
    L1Call call{kSmall};
  } tried;
  tried.stream = stream_;
  ASSERT_EQ(aclrtGetCurrentContext(&tried.context), ACL_SUCCESS);
  ASSERT_EQ(aclrtMalloc(&tried.memory, 64, ACL_MEM_MALLOC_HUGE_FIRST), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* argument) {
                  auto* self = static_cast<Tried*>(argument);
                  const aclrtStream stream = self->stream;
                  char pageable[8] = {};
                  const auto refused = [&](const char* name, aclError status) {
                    self->refused.emplace_back(name, status);
                    const char* message = aclGetRecentErrMsg();
                    self->messages.emplace_back(message == nullptr ? "" : message);
                  };
                  ASSERT_EQ(aclrtSetCurrentContext(self->context), ACL_SUCCESS);
                  refused("aclrtSynchronizeStream", aclrtSynchronizeStream(stream));
                  refused("aclrtSynchronizeStreamWithTimeout", aclrtSynchronizeStreamWithTimeout(stream, -1));
                  refused("aclrtSynchronizeDevice", aclrtSynchronizeDevice());
                  refused("aclrtSynchronizeDeviceWithTimeout", aclrtSynchronizeDeviceWithTimeout(-1));
                  refused("aclrtDestroyStream", aclrtDestroyStream(stream));
                  refused("aclrtDestroyStreamForce", aclrtDestroyStreamForce(stream));
                  refused("aclrtStreamAbort", aclrtStreamAbort(stream));
                  refused("aclrtDeviceTaskAbort", aclrtDeviceTaskAbort(0, 0));
                  refused("aclrtResetDevice", aclrtResetDevice(0));
                  refused("aclrtResetDeviceForce", aclrtResetDeviceForce(0));
                  refused("aclrtFreeWithDevSync", aclrtFreeWithDevSync(self->memory));
                  refused("aclrtMemcpyAsync",
                          aclrtMemcpyAsync(pageable, 8, self->memory, 8, ACL_MEMCPY_DEVICE_TO_HOST, stream));
                  self->allowed.emplace_back("aclrtSynchronizeStreamWithTimeout",
                                             aclrtSynchronizeStreamWithTimeout(stream, 1));
                  self->allowed.emplace_back("aclrtSynchronizeDeviceWithTimeout",
                                             aclrtSynchronizeDeviceWithTimeout(1));
                  EXPECT_EQ(self->call.Launch(stream), ACL_SUCCESS);
                  self->operator_done_at_once = self->call.IsDone();
                },
                &tried),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);  // for the function
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);  // for what it has submitted
  EXPECT_EQ(tried.refused.size(), 12u);
  for (size_t i = 0; i < tried.refused.size(); ++i) {
    const auto& [name, status] = tried.refused[i];
    EXPECT_EQ(status, ACL_ERROR_RT_FEATURE_NOT_SUPPORT) << name;
    EXPECT_NE(tried.messages[i].find(std::string(name) + " is not supported"), std::string::npos) << name;
    EXPECT_NE(tried.messages[i].find("without end"), std::string::npos) << name;
  }
  for (const auto& [name, status] : tried.allowed)
    EXPECT_EQ(status, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << name;
  EXPECT_FALSE(tried.operator_done_at_once);
  EXPECT_TRUE(tried.call.IsDone());
  EXPECT_EQ(aclrtFree(tried.memory), ACL_SUCCESS);

  // The context that the function's stream is in cannot end either; one that is not may.
  struct Contexts {
    aclrtContext own, other;
    aclError of_own, of_other;
  } contexts{};
  aclrtContext before = nullptr;
  ASSERT_EQ(aclrtGetCurrentContext(&before), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&contexts.other, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtCreateContext(&contexts.own, 0), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                nullptr,
                [](void* argument) {
                  auto* self = static_cast<Contexts*>(argument);
                  self->of_own = aclrtDestroyContext(self->own);
                  self->of_other = aclrtDestroyContext(self->other);
                },
                &contexts),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);
  EXPECT_EQ(contexts.of_own, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(contexts.of_other, ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyContext(contexts.own), ACL_SUCCESS);
  ASSERT_EQ(aclrtSetCurrentContext(before), ACL_SUCCESS);
}

// A task that says what became of it.
class WatchedTask final : public portacl::Task {
 public:
  void Publish() noexcept override { published = true; }
  Outcome Run(portacl::Stream&) noexcept override {
    ran = true;
    return Outcome::kDone;
  }
  void Finish(portacl::StreamList&) noexcept override { finished = true; }

  bool published = false, ran = false, finished = false;
};

// Between looking a stream up and submitting to it another thread may destroy it and make a new one, in the
// same slot: the handle means the old one, which is gone.
TEST_F(StreamTest, AHandleOfAnEarlierLifeReachesNobody) {
  using Submission = portacl::Stream::Submission;
  const aclrtStream stale = NewStream();
  const portacl::FoundStream found = portacl::FindStream(stale);
  ASSERT_EQ(aclrtDestroyStream(stale), ACL_SUCCESS);
  WatchedTask nowhere;
  EXPECT_EQ(found.Submit(&nowhere), Submission::kGone) << "the slot is free";
  const aclrtStream fresh = NewStream();
  ASSERT_EQ(portacl::FindStream(fresh).stream, found.stream);
  Gate gate;
  gate.Close(fresh);
  gate.WaitUntilEntered();
  WatchedTask refused;
  EXPECT_EQ(found.Submit(&refused), Submission::kGone);
  for (const WatchedTask* task : {&nowhere, &refused}) {
    EXPECT_FALSE(task->published);
    EXPECT_FALSE(task->ran);
    EXPECT_TRUE(task->finished);
  }
  aclGetRecentErrMsg();
  WatchedTask reported;
  EXPECT_EQ(found.SubmitFor("aclrtSomething", &reported), ACL_ERROR_RT_STREAM_CONTEXT);
  const char* message = aclGetRecentErrMsg();
  ASSERT_NE(message, nullptr);
  EXPECT_NE(std::strstr(message, "aclrtSomething: parameter stream has the value"), nullptr);

  portacl::Stream::Failure failure;
  EXPECT_TRUE(found.stream->Synchronize(found.handle, portacl::DeadlineIn(0), &failure));
  EXPECT_TRUE(found.stream->Abort(found.handle, {ACL_ERROR_RT_STREAM_ABORT, ""}, portacl::DeadlineIn(0)));
  bool called = false;
  EXPECT_EQ(found.With("aclrtSomething", [&](portacl::Stream&) { called = true; }),
            ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_FALSE(called);
  EXPECT_EQ(StatusOf(fresh), ACL_STREAM_STATUS_NOT_READY);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(fresh), ACL_SUCCESS) << "nothing was dropped, nothing failed";
  EXPECT_EQ(aclrtDestroyStream(fresh), ACL_SUCCESS);
}

// Who waits for room when the stream is destroyed by force is told so.
TEST_F(StreamTest, RoomInADestroyedStreamIsNobodys) {
  const Watchdog watchdog;
  const aclrtStream full = NewStream();
  Gate gate;
  gate.Close(full);
  gate.WaitUntilEntered();
  char byte = 0;
  for (int i = 1; i < kRoom; ++i) ASSERT_EQ(aclrtMemsetAsync(&byte, 1, 1, 1, full), ACL_SUCCESS);
  aclError status = -1;
  std::thread submitter([&] { status = aclrtMemsetAsync(&byte, 1, 1, 1, full); });
  LetOthersWait();
  // Not before the stream is closed: what opens earlier makes room for the submission.
  const portacl::FoundStream found = portacl::FindStream(full);
  std::thread opener([&] {
    while (found.With("a test", [](portacl::Stream&) {}) == ACL_SUCCESS) std::this_thread::yield();
    gate.Open();
  });
  EXPECT_EQ(aclrtDestroyStreamForce(full), ACL_SUCCESS);
  opener.join();
  submitter.join();
  EXPECT_EQ(status, ACL_ERROR_RT_STREAM_CONTEXT);
}

// Launches on streams that another thread destroys and makes again: what returned 0 was run when all threads have
// ended, what was refused was not.
TEST_F(StreamTest, ALaunchIsRunOrRefused) {
  const Watchdog watchdog;
  constexpr int kLaunchers = 3;
  constexpr size_t kEach = 30'000;
  std::atomic<aclrtStream> shared{NewStream()};
  std::atomic<int> running{kLaunchers};
  std::atomic<int64_t> accepted{0}, refused{0};
  std::vector<std::vector<char>> bytes(kLaunchers, std::vector<char>(kEach, 0));
  std::vector<std::vector<char>> expected = bytes;
  std::vector<std::thread> threads;
  for (size_t t = 0; t < kLaunchers; ++t) {
    threads.emplace_back([&, t] {
      for (size_t i = 0; i < kEach; ++i) {
        const aclError status = aclrtMemsetAsync(&bytes[t][i], 1, 1, 1, shared);
        ASSERT_TRUE(status == ACL_SUCCESS || status == ACL_ERROR_RT_STREAM_CONTEXT) << status;
        expected[t][i] = status == ACL_SUCCESS ? 1 : 0;
        ++(status == ACL_SUCCESS ? accepted : refused);
        if (status != ACL_SUCCESS) std::this_thread::yield();  // until there is one again
      }
      --running;
    });
  }
  while (running > 0) {
    ASSERT_EQ(aclrtDestroyStream(shared), ACL_SUCCESS);
    shared = NewStream();
    const int64_t before = accepted;
    while (running > 0 && accepted < before + 5) std::this_thread::yield();
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(aclrtDestroyStream(shared), ACL_SUCCESS);
  for (size_t t = 0; t < kLaunchers; ++t) EXPECT_EQ(bytes[t], expected[t]);
  EXPECT_GT(accepted, 0);
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

  L1Call call(kSmall);
  std::thread([this, &call] {  // this thread has no device
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
    EXPECT_EQ(call.Launch(stream_), ACL_SUCCESS);
  })
      .join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
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
  const Watchdog watchdog;
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
  // Not by a function that the stream waits for: it would wait for itself.
  call.Clear();
  ASSERT_EQ(aclrtLaunchHostFunc(
                nullptr,
                [](void* argument) {
                  ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
                  EXPECT_EQ(static_cast<L1Call*>(argument)->Launch(nullptr), ACL_SUCCESS);
                  EXPECT_TRUE(static_cast<L1Call*>(argument)->IsUntouched());
                  EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
                },
                &call),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);  // for the function
  ASSERT_EQ(aclrtSynchronizeStream(nullptr), ACL_SUCCESS);  // for what it has submitted
  EXPECT_TRUE(call.IsDone());
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
