// Callbacks: called by the subscribed thread, in stream order, blocking the stream or not; every code.
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "acl/runtime_fixture.h"

namespace {

uint64_t ThisThread() { return static_cast<uint64_t>(pthread_self()); }

class CallbackTest : public RuntimeTest {
 protected:
  void Launch(aclrtStream stream, LogEntry& entry, aclrtCallbackBlockType type) {
    ASSERT_EQ(aclrtLaunchCallback(LogEntry::Call, &entry, type, stream), ACL_SUCCESS);
  }
  CallLog log_;
  LogEntry entries_[4] = {{&log_, 0}, {&log_, 1}, {&log_, 2}, {&log_, 3}};
};

TEST_F(CallbackTest, ABlockingCallbackHoldsTheStream) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  L1Call behind(kSmall);
  Launch(stream_, entries_[0], ACL_CALLBACK_BLOCK);
  ASSERT_EQ(behind.Launch(stream_), ACL_SUCCESS);
  EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_NOT_READY);
  EXPECT_TRUE(behind.IsUntouched());
  EXPECT_TRUE(log_.empty());
  ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(log_.values(), std::vector<int>{0});
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(behind.IsDone());
  ASSERT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, ANonBlockingCallbackDoesNot) {
  ASSERT_EQ(aclrtSubscribeReport(static_cast<uint64_t>(syscall(SYS_gettid)), stream_), ACL_SUCCESS);
  L1Call behind(kSmall);
  Launch(stream_, entries_[0], ACL_CALLBACK_NO_BLOCK);
  Launch(stream_, entries_[1], ACL_CALLBACK_NO_BLOCK);
  ASSERT_EQ(behind.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(behind.IsDone());
  EXPECT_TRUE(log_.empty());
  EXPECT_EQ(aclrtProcessReport(1000), ACL_SUCCESS);  // one callback a call
  EXPECT_EQ(log_.values(), std::vector<int>{0});
  EXPECT_EQ(aclrtProcessReport(1000), ACL_SUCCESS);
  EXPECT_EQ(log_.values(), (std::vector<int>{0, 1}));
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  ASSERT_EQ(aclrtUnSubscribeReport(static_cast<uint64_t>(syscall(SYS_gettid)), stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, TheSubscribedThreadCallsInStreamOrder) {
  std::atomic<bool> stop{false};
  std::atomic<bool> ready{false};
  pthread_t processor_id{};
  struct Seen {
    std::vector<pthread_t> threads;
  } seen;
  std::thread processor([&] {
    processor_id = pthread_self();
    ready = true;
    while (!stop) {
      const aclError status = aclrtProcessReport(10);
      EXPECT_TRUE(status == ACL_SUCCESS || status == ACL_ERROR_RT_REPORT_TIMEOUT ||
                  status == ACL_ERROR_RT_THREAD_SUBSCRIBE)
          << status;
    }
  });
  while (!ready) std::this_thread::yield();
  ASSERT_EQ(aclrtSubscribeReport(static_cast<uint64_t>(processor_id), stream_), ACL_SUCCESS);
  L1Call call(kLarge);
  for (int i = 0; i < 100; ++i) {
    call.Clear();
    ASSERT_EQ(call.Launch(stream_), ACL_SUCCESS);
    ASSERT_EQ(aclrtLaunchCallback(
                  [](void* argument) { static_cast<Seen*>(argument)->threads.push_back(pthread_self()); },
                  &seen, ACL_CALLBACK_BLOCK, stream_),
              ACL_SUCCESS);
    if (i % 10 == 0) {
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
      EXPECT_EQ(seen.threads.size(), static_cast<size_t>(i + 1));
      EXPECT_TRUE(call.IsDone());
    } else {
      ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
    }
  }
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnSubscribeReport(static_cast<uint64_t>(processor_id), stream_), ACL_SUCCESS);
  stop = true;
  processor.join();
  EXPECT_EQ(seen.threads.size(), 100u);
  for (pthread_t one : seen.threads) EXPECT_TRUE(pthread_equal(one, processor_id));
}

TEST_F(CallbackTest, OneThreadMayHaveSeveralStreams) {
  aclrtStream other = NewStream();
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), other), ACL_SUCCESS);
  Launch(stream_, entries_[0], ACL_CALLBACK_BLOCK);
  Launch(other, entries_[1], ACL_CALLBACK_BLOCK);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(log_.values(), (std::vector<int>{0, 1}));
  ASSERT_EQ(aclrtSynchronizeDevice(), ACL_SUCCESS);
  // A stream that is destroyed takes its subscription with it.
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(CallbackTest, WhatNobodyProcessedIsReported) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  L1Call behind(kSmall);
  Launch(stream_, entries_[0], ACL_CALLBACK_NO_BLOCK);
  Launch(stream_, entries_[1], ACL_CALLBACK_BLOCK);
  Launch(stream_, entries_[2], ACL_CALLBACK_BLOCK);  // due only after the subscription has ended
  ASSERT_EQ(behind.Launch(stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_STREAM_NO_CB_REG);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  EXPECT_TRUE(behind.IsDone());
  EXPECT_TRUE(log_.empty());
}

TEST_F(CallbackTest, EndingASubscriptionWakesTheThread) {
  std::atomic<bool> ready{false};
  pthread_t id{};
  aclError status = ACL_SUCCESS;
  Gate subscribed;
  std::thread processor([&] {
    id = pthread_self();
    ready = true;
    subscribed.Wait();
    status = aclrtProcessReport(-1);
  });
  while (!ready) std::this_thread::yield();
  ASSERT_EQ(aclrtSubscribeReport(static_cast<uint64_t>(id), stream_), ACL_SUCCESS);
  subscribed.Open();
  ASSERT_EQ(aclrtUnSubscribeReport(static_cast<uint64_t>(id), stream_), ACL_SUCCESS);
  processor.join();
  EXPECT_EQ(status, ACL_ERROR_RT_THREAD_SUBSCRIBE);
}

TEST_F(CallbackTest, DestroyingByForceDropsThem) {
  aclrtStream other = NewStream();
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), other), ACL_SUCCESS);
  Launch(other, entries_[0], ACL_CALLBACK_BLOCK);
  Launch(other, entries_[1], ACL_CALLBACK_BLOCK);
  EXPECT_EQ(aclrtDestroyStreamForce(other), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_TRUE(log_.empty());
}

TEST_F(CallbackTest, AnExceptionIsReported) {
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtLaunchCallback([](void*) { throw 1; }, nullptr, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  ASSERT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
}

// The thread that processes callbacks must not wait for room that only it can make.
TEST_F(CallbackTest, NeedsNoRoomInItsStream) {
  const Watchdog watchdog;
  struct Filler {
    aclrtStream stream;
    unsigned char byte;
    aclError failure;
    void Fill() {
      for (int i = 0; i < kRoom + 100; ++i) {
        if (const aclError status = aclrtMemsetAsync(&byte, 1, i, 1, stream)) failure = status;
      }
    }
  };
  const auto fill = [](void* filler) { static_cast<Filler*>(filler)->Fill(); };
  for (const bool from_inside : {true, false}) {
    for (const auto type : {ACL_CALLBACK_BLOCK, ACL_CALLBACK_NO_BLOCK}) {
      for (const uint64_t id : {ThisThread(), static_cast<uint64_t>(syscall(SYS_gettid))}) {
        Filler filler{stream_, 0, ACL_SUCCESS};
        ASSERT_EQ(aclrtSubscribeReport(id, stream_), ACL_SUCCESS);
        if (from_inside) {
          ASSERT_EQ(aclrtLaunchCallback(fill, &filler, type, stream_), ACL_SUCCESS);
          // Behind it is one that blocks, so that there is no room until this thread comes back.
          Launch(stream_, entries_[0], ACL_CALLBACK_BLOCK);
          ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
        } else {
          Launch(stream_, entries_[0], ACL_CALLBACK_BLOCK);
          filler.Fill();
        }
        ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
        ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
        EXPECT_EQ(filler.failure, ACL_SUCCESS);
        EXPECT_EQ(filler.byte, (kRoom + 99) & 0xFF);
        ASSERT_EQ(aclrtUnSubscribeReport(id, stream_), ACL_SUCCESS);
      }
    }
  }
}

// Nor in a stream that waits for its own by an event.
TEST_F(CallbackTest, NeedsNoRoomInAStreamThatWaitsForItsStream) {
  const Watchdog watchdog;
  aclrtStream other = NewStream();
  aclrtEvent event = NewEvent();
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  Launch(stream_, entries_[0], ACL_CALLBACK_BLOCK);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtStreamWaitEvent(other, event), ACL_SUCCESS);
  unsigned char byte = 0;
  for (int i = 0; i < kRoom + 100; ++i) ASSERT_EQ(aclrtMemsetAsync(&byte, 1, i, 1, other), ACL_SUCCESS);
  ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  ASSERT_EQ(aclrtSynchronizeStream(other), ACL_SUCCESS);
  EXPECT_EQ(byte, (kRoom + 99) & 0xFF);
  EXPECT_EQ(aclrtDestroyEvent(event), ACL_SUCCESS);
  EXPECT_EQ(aclrtDestroyStream(other), ACL_SUCCESS);
  ASSERT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
}

TEST_F(CallbackTest, DoesNotWaitForItself) {
  const Watchdog watchdog;
  struct Tried {
    aclrtStream stream;
    aclError of_stream, of_device, of_destruction;
    static void Try(void* argument) {
      auto* self = static_cast<Tried*>(argument);
      self->of_stream = aclrtSynchronizeStream(self->stream);
      self->of_device = aclrtSynchronizeDevice();
      self->of_destruction = aclrtDestroyStream(self->stream);
    }
  };
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  Tried blocking{stream_, 0, 0, 0};
  ASSERT_EQ(aclrtLaunchCallback(Tried::Try, &blocking, ACL_CALLBACK_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(blocking.of_stream, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(blocking.of_device, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(blocking.of_destruction, ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), ACL_SUCCESS);
  // Nothing waits for one that does not block.
  Tried free_one{stream_, -1, -1, -1};
  ASSERT_EQ(aclrtLaunchCallback(Tried::Try, &free_one, ACL_CALLBACK_NO_BLOCK, stream_), ACL_SUCCESS);
  ASSERT_EQ(aclrtProcessReport(-1), ACL_SUCCESS);
  EXPECT_EQ(free_one.of_stream, ACL_SUCCESS);
  EXPECT_EQ(free_one.of_device, ACL_SUCCESS);
  EXPECT_EQ(free_one.of_destruction, ACL_SUCCESS);
  stream_ = nullptr;
}

// A subscription is its stream's and never that of the next stream in the same slot.
TEST_F(CallbackTest, SubscribingRacesWithDestroying) {
  const Watchdog watchdog;
  std::atomic<aclrtStream> shared{NewStream()};
  std::atomic<bool> stop{false};
  std::thread subscriber([&] {
    while (!stop) {
      const aclError status = aclrtSubscribeReport(7, shared);
      ASSERT_TRUE(status == ACL_SUCCESS || status == ACL_ERROR_RT_STREAM_CONTEXT ||
                  status == ACL_ERROR_RT_STREAM_SUBSCRIBE)
          << status;
    }
  });
  for (int i = 0; i < 20'000; ++i) {
    ASSERT_EQ(aclrtDestroyStream(shared), ACL_SUCCESS);
    const aclrtStream fresh = NewStream();
    // Nobody knows its handle yet.
    ASSERT_EQ(aclrtUnSubscribeReport(7, fresh) == ACL_SUCCESS, false);
    shared = fresh;
  }
  stop = true;
  subscriber.join();
  EXPECT_EQ(aclrtDestroyStream(shared), ACL_SUCCESS);
}

TEST_F(CallbackTest, Codes) {
  EXPECT_EQ(aclrtLaunchHostFunc(stream_, nullptr, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtLaunchCallback(nullptr, nullptr, ACL_CALLBACK_BLOCK, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtLaunchCallback(LogEntry::Call, nullptr, static_cast<aclrtCallbackBlockType>(2), stream_),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtLaunchCallback(LogEntry::Call, nullptr, ACL_CALLBACK_BLOCK, stream_),
            ACL_ERROR_RT_STREAM_NO_CB_REG);
  EXPECT_EQ(aclrtProcessReport(0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtProcessReport(-2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  ASSERT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
  EXPECT_EQ(aclrtSubscribeReport(ThisThread(), stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtSubscribeReport(ThisThread() + 1, stream_), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThread(), nullptr), ACL_ERROR_RT_STREAM_SUBSCRIBE);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThread() + 1, stream_), ACL_ERROR_RT_THREAD_SUBSCRIBE);
  EXPECT_EQ(aclrtProcessReport(1), ACL_ERROR_RT_REPORT_TIMEOUT);
  EXPECT_EQ(aclrtUnSubscribeReport(ThisThread(), stream_), ACL_SUCCESS);
}

}  // namespace
