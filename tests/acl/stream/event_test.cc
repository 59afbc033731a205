// Events: what a recording captures, order between streams, no deadlock in any legal order, and every code.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <thread>

#include "acl/runtime_fixture.h"

namespace {

class EventTest : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    other_ = NewStream();
    event_ = NewEvent();
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(other_), ACL_SUCCESS);
    if (event_ != nullptr) {
      EXPECT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
    }
    RuntimeTest::TearDown();
  }
  void Launch(aclrtStream stream, LogEntry& entry) {
    ASSERT_EQ(aclrtLaunchHostFunc(stream, LogEntry::Call, &entry), ACL_SUCCESS);
  }

  aclrtStream other_ = nullptr;
  aclrtEvent event_ = nullptr;
};

TEST_F(EventTest, IsCompleteWhenTheWorkBeforeItIs) {
  Gate before;
  Gate behind;
  before.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  behind.Close(stream_);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_NOT_READY);
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEvent(event_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, 0), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, 1), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  before.Open();
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtQueryEvent(event_, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, -1), ACL_SUCCESS);
}

TEST_F(EventTest, QueriesAgreeWithSynchronisation) {
  for (int i = 0; i < 200; ++i) {
    L1Call call(20'000);
    ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
    if (i % 2 == 0) {
      ASSERT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
      EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE);
    } else {
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
    }
    EXPECT_TRUE(call.IsDone());
  }
}

TEST_F(EventTest, OrdersTwoStreams) {
  CallLog log;
  LogEntry first{&log, 1};
  LogEntry second{&log, 2};
  Gate gate;
  gate.Close(stream_);
  Launch(stream_, first);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  Launch(other_, second);
  gate.WaitUntilEntered();
  EXPECT_EQ(StatusOf(other_), ACL_STREAM_STATUS_NOT_READY);
  aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEventWaitStatus(event_, &waits), ACL_SUCCESS);
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_NOT_READY);
  EXPECT_TRUE(log.empty());
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(log.values(), (std::vector<int>{1, 2}));
  EXPECT_EQ(aclrtQueryEventWaitStatus(event_, &waits), ACL_SUCCESS);
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_COMPLETE);
}

TEST_F(EventTest, ResultsCrossStreams) {
  // The second operator reads what the first wrote in another stream, back and forth.
  constexpr int64_t kCount = 20'000;
  L1Call a(kCount, 1);
  L1Call b(kCount, 2);
  const auto start = a.grad;
  const size_t bytes = a.out.size() * sizeof(float);
  aclrtEvent back = NewEvent();
  constexpr int kRounds = 101;
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_EQ(a.Launch(stream_), ACL_SUCCESS);
    ASSERT_EQ(
        aclrtMemcpyAsync(b.grad.data(), bytes, a.out.data(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, stream_),
        ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
    ASSERT_EQ(b.Launch(other_), ACL_SUCCESS);
    ASSERT_EQ(
        aclrtMemcpyAsync(a.grad.data(), bytes, b.out.data(), bytes, ACL_MEMCPY_DEVICE_TO_DEVICE, other_),
        ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(back, other_), ACL_SUCCESS);
    ASSERT_EQ(aclrtStreamWaitEvent(stream_, back), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  for (size_t i = 0; i < start.size(); ++i) {
    const auto sign = [](float x, float y) { return x > y ? 1.0f : x < y ? -1.0f : 0.0f; };
    float value = start[i];
    for (int r = 0; r < kRounds; ++r) {
      value = sign(a.self[i], a.target[i]) * value;
      value = sign(b.self[i], b.target[i]) * value;
    }
    ASSERT_EQ(a.grad[i], value) << i;
  }
  EXPECT_EQ(aclrtDestroyEvent(back), ACL_SUCCESS);
}

TEST_F(EventTest, AWaitMeansTheRecordingOfItsTime) {
  // Recorded again in an idle stream the event is complete, but who waited for the first recording goes on
  // waiting.
  CallLog log;
  LogEntry entry{&log, 1};
  aclrtStream third = NewStream();
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  Launch(other_, entry);
  ASSERT_EQ(aclrtRecordEvent(event_, third), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(other_), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_TRUE(log.empty());
  ASSERT_EQ(aclrtStreamWaitEvent(third, event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(third), ACL_SUCCESS);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(log.values(), std::vector<int>{1});
  EXPECT_EQ(aclrtDestroyStream(third), ACL_SUCCESS);
}

TEST_F(EventTest, StreamsMayWaitForEachOther) {
  CallLog log;
  LogEntry entries[] = {{&log, 0}, {&log, 1}, {&log, 2}, {&log, 3}};
  aclrtEvent back = NewEvent();
  Gate gate;
  gate.Close(stream_);
  Launch(stream_, entries[0]);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  Launch(other_, entries[1]);
  ASSERT_EQ(aclrtRecordEvent(back, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, back), ACL_SUCCESS);
  Launch(stream_, entries[2]);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  Launch(other_, entries[3]);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(log.values(), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(aclrtDestroyEvent(back), ACL_SUCCESS);
}

TEST_F(EventTest, AStreamMayWaitForItself) {
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event_), ACL_SUCCESS);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
}

TEST_F(EventTest, AThreadMayWaitForAnEventInABlockedStream) {
  // The event's stream waits for another one, which waits for a gate.
  aclrtEvent first = NewEvent();
  Gate gate;
  gate.Close(other_);
  ASSERT_EQ(aclrtRecordEvent(first, other_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, first), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  std::thread opener([&] { gate.Open(); });
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  EXPECT_TRUE(gate.is_open());
  opener.join();
  EXPECT_EQ(aclrtDestroyEvent(first), ACL_SUCCESS);
}

// A wait can only mean a recording that is in its queue already: else it might be queued before it, in the same
// stream or around several, and never end.
TEST_F(EventTest, RecordersAndWaitersMayRaceOnOneStream) {
  const Watchdog watchdog;
  for (int round = 0; round < 20; ++round) {
    std::thread recorder([&] {
      for (int i = 0; i < 4000; ++i) ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
    });
    for (int i = 0; i < 4000; ++i) ASSERT_EQ(aclrtStreamWaitEvent(stream_, event_), ACL_SUCCESS);
    recorder.join();
    ASSERT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, 60'000), ACL_SUCCESS) << "in round " << round;
  }
}

TEST_F(EventTest, RecordersAndWaitersMayRaceAroundSeveralStreams) {
  const Watchdog watchdog;
  aclrtStream third = NewStream();
  aclrtEvent back = NewEvent();
  const aclrtStream streams[] = {stream_, other_, third};
  const aclrtEvent events[] = {event_, back};
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 3; ++t) {
      threads.emplace_back([&, t] {
        for (unsigned i = 0; i < 3000; ++i) {
          ASSERT_EQ(aclrtRecordEvent(events[(i + t) % 2], streams[i % 3]), ACL_SUCCESS);
          ASSERT_EQ(aclrtStreamWaitEvent(streams[(i + t) % 3], events[i % 2]), ACL_SUCCESS);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_EQ(aclrtSynchronizeDeviceWithTimeout(60'000), ACL_SUCCESS) << "in round " << round;
  }
  EXPECT_EQ(aclrtDestroyEvent(back), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(third), ACL_SUCCESS);
}

// Nobody sees a recording, or what a reset does, before it has its place in the queue.
TEST_F(EventTest, ARecordingThatWaitsForRoomIsNotSeen) {
  const Watchdog watchdog;
  aclrtEvent ex = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC), ACL_SUCCESS);
  Gate gate;
  gate.Close(stream_);
  gate.WaitUntilEntered();
  char byte = 0;
  for (int i = 1; i < kRoom; ++i) ASSERT_EQ(aclrtMemsetAsync(&byte, 1, 1, 1, stream_), ACL_SUCCESS);
  std::thread recorder([&] { EXPECT_EQ(aclrtRecordEvent(ex, stream_), ACL_SUCCESS); });
  LetOthersWait();
  EXPECT_EQ(StatusOfEvent(ex), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(ex, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(other_, ex), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(other_), ACL_STREAM_STATUS_COMPLETE);
  gate.Open();
  recorder.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(ex), ACL_SUCCESS);
}

TEST_F(EventTest, AResetUndoesWhatWasQueuedBeforeIt) {
  const Watchdog watchdog;
  ASSERT_EQ(aclrtRecordEvent(event_, other_), ACL_SUCCESS);
  Gate gate;
  gate.Close(stream_);
  gate.WaitUntilEntered();
  char byte = 0;
  for (int i = 1; i < kRoom; ++i) ASSERT_EQ(aclrtMemsetAsync(&byte, 1, 1, 1, stream_), ACL_SUCCESS);
  std::thread resetter([&] { EXPECT_EQ(aclrtResetEvent(event_, stream_), ACL_SUCCESS); });
  LetOthersWait();
  ASSERT_EQ(aclrtRecordEvent(event_, other_), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  gate.Open();
  resetter.join();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_NOT_READY);
}

// Events that are destroyed and made again while others use their old handles: each call means the one event or
// is refused, and nothing is left over (see TearDown).
TEST_F(EventTest, MayBeDestroyedWhileOthersUseIt) {
  const Watchdog watchdog;
  std::atomic<aclrtEvent> shared{NewEvent()};
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      const auto allowed = [](aclError status) {
        return status == ACL_SUCCESS || status == ACL_ERROR_RT_PARAM_INVALID ||
               status == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT;
      };
      for (int i = 0; !stop; ++i) {
        const aclrtEvent event = shared;
        const aclrtStream stream = i % 2 == 0 ? stream_ : other_;
        aclrtEventRecordedStatus status;
        switch ((i + t) % 5) {
          case 0:
            ASSERT_TRUE(allowed(aclrtRecordEvent(event, stream)));
            break;
          case 1:
            ASSERT_TRUE(allowed(aclrtStreamWaitEvent(stream, event)));
            break;
          case 2:
            ASSERT_TRUE(allowed(aclrtResetEvent(event, stream)));
            break;
          case 3:
            ASSERT_TRUE(allowed(aclrtQueryEventStatus(event, &status)));
            break;
          default:
            ASSERT_TRUE(allowed(aclrtSynchronizeEventWithTimeout(event, 0)));
        }
      }
    });
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
  while (std::chrono::steady_clock::now() < end) {
    const aclrtEvent before = shared.exchange(NewEvent());
    ASSERT_EQ(aclrtDestroyEvent(before), ACL_SUCCESS);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(aclrtSynchronizeDeviceWithTimeout(60'000), ACL_SUCCESS);
  ASSERT_EQ(aclrtDestroyEvent(shared), ACL_SUCCESS);
}

TEST_F(EventTest, ManyStreamsWaitForOneEvent) {
  constexpr size_t kStreams = 64;
  std::vector<aclrtStream> streams(kStreams);
  CallLog log;
  LogEntry entry{&log, 1};
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  for (aclrtStream& one : streams) {
    one = NewStream();
    ASSERT_EQ(aclrtStreamWaitEvent(one, event_), ACL_SUCCESS);
    Launch(one, entry);
  }
  EXPECT_TRUE(log.empty());
  gate.Open();
  for (aclrtStream one : streams) EXPECT_EQ(aclrtDestroyStream(one), ACL_SUCCESS);
  EXPECT_EQ(log.values().size(), kStreams);
}

TEST_F(EventTest, AnUnrecordedEventIsNotWaitedFor) {
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_NOT_READY);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(stream_, event_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, 0), ACL_SUCCESS);
  EXPECT_EQ(aclrtResetEvent(event_, stream_), ACL_SUCCESS);
  aclrtEventWaitStatus waits = ACL_EVENT_WAIT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEventWaitStatus(event_, &waits), ACL_SUCCESS);
  EXPECT_EQ(waits, ACL_EVENT_WAIT_STATUS_COMPLETE);

  aclrtEvent ex = nullptr;
  ASSERT_EQ(aclrtCreateEventExWithFlag(&ex, ACL_EVENT_SYNC), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(ex), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
  EXPECT_EQ(aclrtQueryEvent(ex, &status), ACL_SUCCESS);
  EXPECT_EQ(status, ACL_EVENT_STATUS_COMPLETE);
  EXPECT_EQ(aclrtDestroyEvent(ex), ACL_SUCCESS);
}

TEST_F(EventTest, ResetHappensInStreamOrder) {
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  {
    Gate gate;
    gate.Close(stream_);
    ASSERT_EQ(aclrtResetEvent(event_, stream_), ACL_SUCCESS);
    EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_NOT_READY);

  // Recorded anew between the call and its turn: that recording stays.
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  {
    Gate gate;
    gate.Close(stream_);
    ASSERT_EQ(aclrtResetEvent(event_, stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtRecordEvent(event_, other_), ACL_SUCCESS);
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOfEvent(event_), ACL_EVENT_RECORDED_STATUS_COMPLETE);
}

TEST_F(EventTest, MayBeDestroyedWhileItIsWaitedFor) {
  CallLog log;
  LogEntry entry{&log, 1};
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other_, event_), ACL_SUCCESS);
  ASSERT_EQ(aclrtResetEvent(event_, other_), ACL_SUCCESS);
  Launch(other_, entry);
  ASSERT_EQ(aclrtDestroyEvent(event_), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(event_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_TRUE(log.empty());
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(log.values(), std::vector<int>{1});
  event_ = nullptr;
}

TEST_F(EventTest, AWaitMayEndByTime) {
  CallLog log;
  LogEntry entry{&log, 1};
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  for (int timeout : {0, 1}) {
    ASSERT_EQ(aclrtStreamWaitEventWithTimeout(other_, event_, timeout), ACL_SUCCESS);
    Launch(other_, entry);
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
    EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  }
  EXPECT_EQ(log.values(), (std::vector<int>{1, 1}));
  ASSERT_EQ(aclrtStreamWaitEventWithTimeout(other_, event_, 1'000'000), ACL_SUCCESS);
  Launch(other_, entry);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
  EXPECT_EQ(log.values().size(), 3u);
  ASSERT_EQ(aclrtStreamWaitEventWithTimeout(other_, event_, -1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(other_), ACL_SUCCESS);
}

TEST_F(EventTest, ElapsedTime) {
  using Clock = std::chrono::steady_clock;
  aclrtEvent end = NewEvent();
  struct Span {
    Clock::time_point begin, end;
  } span;
  ASSERT_EQ(aclrtRecordEvent(event_, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchHostFunc(
                stream_,
                [](void* argument) {
                  auto* self = static_cast<Span*>(argument);
                  self->begin = Clock::now();
                  do {
                    self->end = Clock::now();
                  } while (self->end - self->begin < std::chrono::milliseconds(2));
                },
                &span),
            ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(end, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(end), ACL_SUCCESS);
  float ms = -1;
  ASSERT_EQ(aclrtEventElapsedTime(&ms, event_, end), ACL_SUCCESS);
  EXPECT_GE(ms, (std::chrono::duration<float, std::milli>(span.end - span.begin).count()) * 0.999f);
  EXPECT_LT(ms, 60'000);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, event_), ACL_SUCCESS);
  EXPECT_EQ(ms, 0);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, end, event_), ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL);
  EXPECT_EQ(aclrtEventElapsedTime(nullptr, event_, end), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, nullptr, end), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, nullptr), ACL_ERROR_INVALID_PARAM);

  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtRecordEvent(end, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  gate.Open();
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, end), ACL_SUCCESS);

  aclrtEvent unrecorded = NewEvent();
  EXPECT_EQ(aclrtEventElapsedTime(&ms, unrecorded, end), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, unrecorded), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  aclrtEvent no_time = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&no_time, ACL_EVENT_SYNC), ACL_SUCCESS);
  ASSERT_EQ(aclrtRecordEvent(no_time, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeEvent(no_time), ACL_SUCCESS);
  EXPECT_EQ(aclrtEventElapsedTime(&ms, event_, no_time), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  for (aclrtEvent one : {end, unrecorded, no_time}) EXPECT_EQ(aclrtDestroyEvent(one), ACL_SUCCESS);
}

TEST_F(EventTest, Codes) {
  aclrtEvent made = nullptr;
  EXPECT_EQ(aclrtCreateEvent(nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateEventWithFlag(nullptr, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateEventExWithFlag(nullptr, ACL_EVENT_SYNC), ACL_ERROR_INVALID_PARAM);
  for (uint32_t flag : {0u, 0x4u, 0x80u, 0x101u}) {
    EXPECT_EQ(aclrtCreateEventWithFlag(&made, flag), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(aclrtCreateEventExWithFlag(&made, flag), ACL_ERROR_RT_PARAM_INVALID);
  }
  EXPECT_EQ(aclrtCreateEventWithFlag(&made, ACL_EVENT_IPC), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(made, nullptr);

  ASSERT_EQ(aclrtCreateEventWithFlag(&made, ACL_EVENT_TIME_LINE), ACL_SUCCESS);
  EXPECT_EQ(aclrtStreamWaitEvent(stream_, made), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(stream_, made, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtResetEvent(made, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRecordEvent(made, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeEvent(made), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyEvent(made), ACL_SUCCESS);

  EXPECT_EQ(aclrtStreamWaitEventWithTimeout(stream_, event_, -2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSynchronizeEventWithTimeout(event_, -2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtQueryEvent(event_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtQueryEventStatus(event_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtQueryEventWaitStatus(event_, nullptr), ACL_ERROR_INVALID_PARAM);

  int local = 0;
  const struct {
    aclrtEvent event;
    aclError code;
  } wrong[] = {{nullptr, ACL_ERROR_INVALID_PARAM},
               {made, ACL_ERROR_RT_PARAM_INVALID},
               {stream_, ACL_ERROR_RT_PARAM_INVALID},
               {&local, ACL_ERROR_RT_PARAM_INVALID}};
  for (const auto& one : wrong) {
    aclrtEventStatus status;
    aclrtEventRecordedStatus recorded;
    aclrtEventWaitStatus waits;
    EXPECT_EQ(aclrtDestroyEvent(one.event), one.code);
    EXPECT_EQ(aclrtRecordEvent(one.event, stream_), one.code);
    EXPECT_EQ(aclrtResetEvent(one.event, stream_), one.code);
    EXPECT_EQ(aclrtStreamWaitEvent(stream_, one.event), one.code);
    EXPECT_EQ(aclrtStreamWaitEventWithTimeout(stream_, one.event, 1), one.code);
    EXPECT_EQ(aclrtSynchronizeEvent(one.event), one.code);
    EXPECT_EQ(aclrtSynchronizeEventWithTimeout(one.event, 1), one.code);
    EXPECT_EQ(aclrtQueryEvent(one.event, &status), one.code);
    EXPECT_EQ(aclrtQueryEventStatus(one.event, &recorded), one.code);
    EXPECT_EQ(aclrtQueryEventWaitStatus(one.event, &waits), one.code);
  }
}

}  // namespace
