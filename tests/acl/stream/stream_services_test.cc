// Streams beyond submitting and waiting: failure mode, attributes, abort, timeouts, values, notifies,
// overflow.
// SPDX-License-Identifier: Apache-2.0
#include <time.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>

#include "acl/runtime_fixture.h"

namespace {

using Clock = std::chrono::steady_clock;

void Throw(void*) { throw std::runtime_error("on purpose"); }
void Raise(void* flag) { static_cast<std::atomic<int>*>(flag)->fetch_add(1); }

class StreamServices : public RuntimeTest {
 protected:
  void SetUp() override {
    RuntimeTest::SetUp();
    ASSERT_EQ(aclrtCreateStream(&other_), 0);
  }
  void TearDown() override {
    EXPECT_EQ(aclrtDestroyStream(other_), 0);
    RuntimeTest::TearDown();
  }
  static std::string Message() {
    const char* text = aclGetRecentErrMsg();
    return text == nullptr ? "" : text;
  }
  aclrtStream other_ = nullptr;
};

TEST_F(StreamServices, StopsOnFailureUntilToldToGoOn) {
  EXPECT_EQ(aclrtSetStreamFailureMode(stream_, 2), ACL_ERROR_RT_PARAM_INVALID);
  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_STOP_ON_FAILURE), 0);
  std::atomic<int> calls{0};
  aclrtEvent event = NewEvent();
  Gate gate;
  gate.Close(stream_);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Throw, nullptr), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
  ASSERT_EQ(aclrtRecordEvent(event, stream_), 0);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR) << "it stays";
  EXPECT_EQ(aclrtSynchronizeEvent(event), 0) << "nobody waits for what was dropped";
  L1Call dropped(kSmall);
  ASSERT_EQ(dropped.Launch(stream_), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR);
  EXPECT_TRUE(dropped.IsUntouched());
  EXPECT_EQ(calls.load(), 0);

  ASSERT_EQ(aclrtSetStreamFailureMode(stream_, ACL_CONTINUE_ON_FAILURE), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_INTERNAL_ERROR) << "reported for the last time";
  ASSERT_EQ(dropped.Launch(stream_), 0);
  ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_TRUE(dropped.IsDone());
  EXPECT_EQ(calls.load(), 1);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(StreamServices, Attributes) {
  aclrtStreamAttrValue value{};
  const auto get = [&](aclrtStreamAttr attribute) {
    value = {};
    EXPECT_EQ(aclrtGetStreamAttribute(stream_, attribute, &value), 0);
    return value;
  };
  EXPECT_EQ(get(ACL_STREAM_ATTR_FAILURE_MODE).failureMode, 0u);
  value.failureMode = ACL_STOP_ON_FAILURE;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value), 0);
  EXPECT_EQ(get(ACL_STREAM_ATTR_FAILURE_MODE).failureMode, 1u);
  value.failureMode = 7;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FAILURE_MODE, &value),
            ACL_ERROR_RT_PARAM_INVALID);
  value = {};
  value.userCustomTag = 4711;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value), 0);
  EXPECT_EQ(get(ACL_STREAM_ATTR_USER_CUSTOM_TAG).userCustomTag, 4711u);
  value = {};
  value.priority = 5;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, &value), 0);
  EXPECT_EQ(get(ACL_STREAM_ATTR_PRIORITY).priority, 5u);
  uint32_t priority = 0;
  EXPECT_EQ(aclrtStreamGetPriority(stream_, &priority), 0);
  EXPECT_EQ(priority, 5u);
  value.priority = 8;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_PARAM_INVALID);
  value = {};
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value), 0);
  value.overflowSwitch = 1;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK, &value),
            ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(get(ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK).overflowSwitch, 0u);
  for (const uint32_t kept : {1u, 0u}) {
    value = {};
    value.cacheOpInfoSwitch = kept;
    EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_CACHE_OP_INFO, &value), 0);
    EXPECT_EQ(get(ACL_STREAM_ATTR_CACHE_OP_INFO).cacheOpInfoSwitch, kept);
  }
  value.cacheOpInfoSwitch = 2;
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_CACHE_OP_INFO, &value),
            ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, static_cast<aclrtStreamAttr>(9), &value),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetStreamAttribute(stream_, static_cast<aclrtStreamAttr>(9), &value),
            ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetStreamAttribute(stream_, ACL_STREAM_ATTR_PRIORITY, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetStreamAttribute(&value, ACL_STREAM_ATTR_PRIORITY, &value), ACL_ERROR_RT_STREAM_CONTEXT);
  const aclrtStream fresh = NewStream();
  EXPECT_EQ(aclrtGetStreamAttribute(fresh, ACL_STREAM_ATTR_USER_CUSTOM_TAG, &value), 0);
  EXPECT_EQ(value.userCustomTag, 0u);
  EXPECT_EQ(aclrtDestroyStream(fresh), 0);
}

TEST_F(StreamServices, HowManyThereMayBe) {
  uint32_t before = 0;
  uint32_t after = 0;
  ASSERT_EQ(aclrtGetStreamAvailableNum(&before), 0);
  const aclrtStream one_more = NewStream();
  ASSERT_EQ(aclrtGetStreamAvailableNum(&after), 0);
  EXPECT_EQ(before, after + 1);
  EXPECT_EQ(aclrtDestroyStream(one_more), 0);
  EXPECT_EQ(aclrtGetStreamAvailableNum(nullptr), ACL_ERROR_INVALID_PARAM);
  std::thread([&] { EXPECT_EQ(aclrtGetStreamAvailableNum(&after), ACL_ERROR_RT_CONTEXT_NULL); }).join();
}

TEST_F(StreamServices, AbortDropsWhatHasNotBegun) {
  for (const bool whole_device : {false, true}) {
    const auto abort = [&] { return whole_device ? aclrtDeviceTaskAbort(0, 0) : aclrtStreamAbort(stream_); };
    EXPECT_EQ(abort(), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << "nothing was lost";
    std::atomic<int> calls{0};
    aclrtEvent event = NewEvent();
    Gate gate;
    GatedTask runs(gate);
    runs.affinity = portacl::Task::Affinity::kWorker;
    portacl::FindStream(stream_).Submit(&runs);
    gate.WaitUntilEntered();
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
    ASSERT_EQ(aclrtRecordEvent(event, stream_), 0);
    ASSERT_EQ(aclrtStreamWaitEvent(other_, event), 0);
    std::thread aborting([&] {
      ASSERT_EQ(aclrtSetDevice(0), 0);
      EXPECT_EQ(abort(), 0);
      EXPECT_TRUE(gate.is_open()) << "what runs is waited for";
      EXPECT_EQ(aclrtResetDevice(0), 0);
    });
    runs.WaitUntilInterrupted();
    gate.Open();
    aborting.join();
    EXPECT_EQ(calls.load(), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_),
              whole_device ? ACL_ERROR_RT_DEVICE_TASK_ABORT : ACL_ERROR_RT_STREAM_ABORT);
    aclrtSynchronizeStream(other_);
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << "it can be used again";
    EXPECT_EQ(calls.load(), 1);
    EXPECT_EQ(aclrtDestroyEvent(event), 0);
  }
  EXPECT_EQ(aclrtStreamAbort(&other_), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtDeviceTaskAbort(8, 0), ACL_ERROR_RT_INVALID_DEVICEID);
}

TEST_F(StreamServices, AbortEndsWaiting) {
  aclrtEvent event = NewEvent();
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), 0);
  alignas(8) uint64_t value = 0;
  Gate gate;
  gate.Close(other_);
  ASSERT_EQ(aclrtRecordEvent(event, other_), 0);
  for (int what = 0; what < 4; ++what) {
    ASSERT_EQ(what == 0   ? aclrtStreamWaitEvent(stream_, event)
              : what == 1 ? aclrtWaitAndResetNotify(notify, stream_, 0)
              : what == 2 ? aclrtWaitAndResetNotify(notify, stream_, 1000)
                          : aclrtValueWait(&value, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_),
              0);
    EXPECT_EQ(aclrtStreamAbort(stream_), 0);
    EXPECT_EQ(StatusOf(stream_), ACL_STREAM_STATUS_COMPLETE) << what;
    aclrtSynchronizeStream(stream_);
  }
  EXPECT_EQ(aclrtDeviceTaskAbort(0, 1), ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) << "a host function runs";
  gate.Open();
  aclrtSynchronizeStream(other_);
  EXPECT_EQ(aclrtDestroyNotify(notify), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(StreamServices, NumbersAndTimesOfEvents) {
  aclrtEvent first = NewEvent();
  aclrtEvent second = NewEvent();
  uint32_t ids[2] = {};
  EXPECT_EQ(aclrtGetEventId(first, &ids[0]), 0);
  EXPECT_EQ(aclrtGetEventId(second, &ids[1]), 0);
  EXPECT_NE(ids[0], ids[1]);
  EXPECT_EQ(aclrtGetEventId(first, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetEventId(nullptr, ids), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtGetEventId(ids, ids), ACL_ERROR_RT_PARAM_INVALID);
  uint64_t times[2] = {};
  EXPECT_EQ(aclrtEventGetTimestamp(first, &times[0]), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID) << "not recorded";
  EXPECT_EQ(aclrtEventGetTimestamp(first, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtEventGetTimestamp(nullptr, times), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtRecordEvent(first, stream_), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  ASSERT_EQ(aclrtRecordEvent(second, stream_), 0);
  ASSERT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(aclrtEventGetTimestamp(first, &times[0]), 0);
  EXPECT_EQ(aclrtEventGetTimestamp(second, &times[1]), 0);
  EXPECT_GE(times[1] - times[0], 5000u);
  float elapsed = 0;
  EXPECT_EQ(aclrtEventElapsedTime(&elapsed, first, second), 0);
  const auto apart = static_cast<double>(times[1] - times[0]);
  EXPECT_NEAR(elapsed * 1000, apart, 2 + apart * 1e-6) << "in float32";
  aclrtEvent timeless = nullptr;
  ASSERT_EQ(aclrtCreateEventWithFlag(&timeless, ACL_EVENT_SYNC), 0);
  ASSERT_EQ(aclrtRecordEvent(timeless, stream_), 0);
  EXPECT_EQ(aclrtEventGetTimestamp(timeless, times), ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID);
  for (aclrtEvent event : {first, second, timeless}) EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(StreamServices, OperatorsThatTakeTooLong) {
  uint64_t actual = 0;
  EXPECT_EQ(aclrtSetOpExecuteTimeOutV2(1, nullptr), ACL_ERROR_INVALID_PARAM);
  ASSERT_EQ(aclrtSetOpExecuteTimeOutV2(1, &actual), 0);
  EXPECT_EQ(actual, 1u);
  L1Call call(4'000'000);
  ASSERT_EQ(call.Launch(stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_AICORE_TIMEOUT);
  EXPECT_NE(Message().find("aclrtSetOpExecuteTimeOut"), std::string::npos);
  EXPECT_TRUE(call.IsDone()) << "the result is whole";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  ASSERT_EQ(aclrtSetOpExecuteTimeOutV2(std::numeric_limits<uint64_t>::max(), &actual), 0);
  EXPECT_GT(actual, uint64_t{1} << 50);
  ASSERT_EQ(call.Launch(stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  ASSERT_EQ(aclrtSetOpExecuteTimeOut(3600), 0);
  ASSERT_EQ(call.Launch(stream_), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  ASSERT_EQ(aclrtSetOpExecuteTimeOut(0), 0);
}

TEST_F(StreamServices, WaitsThatTakeTooLong) {
  ASSERT_EQ(aclrtSetOpWaitTimeout(1), 0);
  aclrtEvent event = NewEvent();
  Gate gate;
  gate.Close(other_);
  ASSERT_EQ(aclrtRecordEvent(event, other_), 0);
  const auto start = Clock::now();
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event), 0);
  ASSERT_EQ(aclrtSetOpWaitTimeout(0), 0) << "counts for calls from now on";
  EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_EVENT_SYNC_TIMEOUT);
  EXPECT_GE(Clock::now() - start, std::chrono::milliseconds(990));
  ASSERT_EQ(aclrtStreamWaitEvent(stream_, event), 0);
  gate.Open();
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  EXPECT_EQ(aclrtDestroyEvent(event), 0);
}

TEST_F(StreamServices, ValuesBetweenStreams) {
  struct Case {
    uint32_t flag;
    uint64_t wanted;
    uint64_t before;  // does not hold
    uint64_t after;   // does
  };
  const Case cases[] = {
      {ACL_STREAM_WAIT_VALUE_GEQ, 5, 4, 6},
      {ACL_STREAM_WAIT_VALUE_GEQ, 0, std::numeric_limits<uint64_t>::max(), 0},  // -1 is less than 0
      {ACL_STREAM_WAIT_VALUE_EQ, 7, 8, 7},
      {ACL_STREAM_WAIT_VALUE_EQ, 7, 6, 7},
      {ACL_STREAM_WAIT_VALUE_AND, 6, 9, 4},   // one common bit is enough,
      {ACL_STREAM_WAIT_VALUE_AND, 6, 9, 12},  // whatever else either has
      {ACL_STREAM_WAIT_VALUE_NOR, ~uint64_t{1}, 1, 0},
      {ACL_STREAM_WAIT_VALUE_NOR, 6, ~uint64_t{6}, 6},  // a bit that neither has
  };
  for (const Case& one : cases) {
    for (const bool by_stream : {true, false}) {
      alignas(8) uint64_t value = one.before;
      std::atomic<int> calls{0};
      ASSERT_EQ(aclrtValueWait(&value, one.wanted, one.flag, stream_), 0);
      ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      EXPECT_EQ(calls.load(), 0) << one.flag;
      if (by_stream) {
        ASSERT_EQ(aclrtValueWrite(&value, one.after, 0, other_), 0);
      } else {
        __atomic_store_n(&value, one.after, __ATOMIC_RELEASE);
      }
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, kPatience), 0) << one.flag;
      EXPECT_EQ(calls.load(), 1);
      EXPECT_EQ(value, one.after);
      ASSERT_EQ(aclrtValueWait(&value, one.wanted, one.flag, stream_), 0) << "holds already";
      EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, kPatience), 0) << one.flag;
      EXPECT_EQ(aclrtSynchronizeStream(other_), 0);
    }
  }
  alignas(8) uint64_t value = 0;
  EXPECT_EQ(aclrtValueWrite(nullptr, 1, 0, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtValueWait(nullptr, 1, 0, stream_), ACL_ERROR_INVALID_PARAM);
  char* const odd = reinterpret_cast<char*>(&value) + 4;
  EXPECT_EQ(aclrtValueWrite(odd, 1, 0, stream_), ACL_ERROR_RT_ADDR_UNALIGNED);
  EXPECT_EQ(aclrtValueWait(odd, 1, 0, stream_), ACL_ERROR_RT_ADDR_UNALIGNED);
  EXPECT_EQ(aclrtValueWrite(&value, 1, 1, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtValueWait(&value, 1, 4, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtValueWrite(&value, 1, 0, &value), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtValueWait(&value, 1, 0, &value), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(value, 0u);
}

TEST_F(StreamServices, WaitingTakesNoProcessor) {
  const auto processor_time = [] {
    timespec time{};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
  };
  alignas(8) uint64_t value = 0;
  aclrtNotify notify = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), 0);
  ASSERT_EQ(aclrtValueWait(&value, 1, ACL_STREAM_WAIT_VALUE_EQ, stream_), 0);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, other_, 0), 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  const auto before = processor_time();
  const auto start = Clock::now();
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  // The value is looked at again and again: on a busy machine for longer than half a second.
  EXPECT_LT(processor_time() - before, (Clock::now() - start) / (PORTACL_ASAN || PORTACL_TSAN ? 2 : 10));
  ASSERT_EQ(aclrtValueWrite(&value, 1, 0, nullptr), 0);
  ASSERT_EQ(aclrtRecordNotify(notify, nullptr), 0);
  EXPECT_EQ(aclrtSynchronizeDevice(), 0);
  EXPECT_EQ(aclrtDestroyNotify(notify), 0);
}

TEST_F(StreamServices, NotifiesBetweenStreams) {
  aclrtNotify notify = nullptr;
  aclrtNotify second = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&notify, 0), 0);
  ASSERT_EQ(aclrtCreateNotify(&second, 0), 0);
  uint32_t ids[2] = {};
  EXPECT_EQ(aclrtGetNotifyId(notify, &ids[0]), 0);
  EXPECT_EQ(aclrtGetNotifyId(second, &ids[1]), 0);
  EXPECT_NE(ids[0], ids[1]);
  for (const uint32_t timeout : {0, 100}) {
    std::atomic<int> calls{0};
    ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, timeout), 0);
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
    ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, timeout), 0);
    ASSERT_EQ(aclrtLaunchHostFunc(stream_, Raise, &calls), 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(calls.load(), 0);
    ASSERT_EQ(aclrtRecordNotify(notify, other_), 0);
    for (int i = 0; i < kPatience && calls.load() == 0; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_EQ(calls.load(), 1) << "one raising, one wait";
    ASSERT_EQ(aclrtRecordNotify(notify, other_), 0);
    EXPECT_EQ(aclrtSynchronizeStreamWithTimeout(stream_, kPatience), 0);
    EXPECT_EQ(calls.load(), 2);
    EXPECT_EQ(aclrtSynchronizeStream(other_), 0);
  }
  // Raised twice is raised; lowered, nobody passes.
  ASSERT_EQ(aclrtRecordNotify(notify, other_), 0);
  ASSERT_EQ(aclrtRecordNotify(notify, other_), 0);
  ASSERT_EQ(aclrtRecordNotify(second, other_), 0);
  ASSERT_EQ(aclrtSynchronizeStream(other_), 0);
  ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 0), 0);
  EXPECT_EQ(aclrtSynchronizeStream(stream_), 0);
  // Whoever passes a raised one lowers it, also one that did not have to wait, without and with a timeout.
  for (const uint32_t timeout : {0, 100}) {
    ASSERT_EQ(aclrtRecordNotify(notify, stream_), 0);
    ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, timeout), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), 0) << timeout;
    ASSERT_EQ(aclrtWaitAndResetNotify(notify, stream_, 1), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_WAIT_TIMEOUT) << timeout;
  }
  ASSERT_EQ(aclrtRecordNotify(notify, other_), 0);
  ASSERT_EQ(aclrtSynchronizeStream(other_), 0);
  aclrtNotify both[] = {notify, second};
  EXPECT_EQ(aclrtNotifyBatchReset(both, 2), 0);
  for (const aclrtNotify one : both) {
    ASSERT_EQ(aclrtWaitAndResetNotify(one, stream_, 1), 0);
    EXPECT_EQ(aclrtSynchronizeStream(stream_), ACL_ERROR_RT_WAIT_TIMEOUT);
  }
  EXPECT_EQ(aclrtNotifyBatchReset(nullptr, 2), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtNotifyBatchReset(both, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateNotify(nullptr, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtCreateNotify(&notify, 1), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRecordNotify(nullptr, stream_), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtRecordNotify(ids, stream_), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtRecordNotify(notify, ids), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtWaitAndResetNotify(nullptr, stream_, 0), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtWaitAndResetNotify(notify, ids, 0), ACL_ERROR_RT_STREAM_CONTEXT);
  EXPECT_EQ(aclrtGetNotifyId(notify, nullptr), ACL_ERROR_INVALID_PARAM);
  std::thread([&] {
    aclrtNotify none = nullptr;
    EXPECT_EQ(aclrtCreateNotify(&none, 0), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
  EXPECT_EQ(aclrtDestroyNotify(notify), 0);
  EXPECT_EQ(aclrtDestroyNotify(notify), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtNotifyBatchReset(both, 2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtDestroyNotify(second), 0);
  EXPECT_EQ(aclrtDestroyNotify(nullptr), ACL_ERROR_INVALID_PARAM);
}

// Thousands of hand-overs between two streams and a third one, from two threads.
TEST_F(StreamServices, ManyHandOvers) {
  constexpr int kRounds = 2000;
  aclrtNotify there = nullptr;
  aclrtNotify back = nullptr;
  ASSERT_EQ(aclrtCreateNotify(&there, 0), 0);
  ASSERT_EQ(aclrtCreateNotify(&back, 0), 0);
  alignas(8) uint64_t counter = 0;
  std::thread ping([&] {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_EQ(aclrtValueWrite(&counter, static_cast<uint64_t>(i) + 1, 0, stream_), 0);
      ASSERT_EQ(aclrtRecordNotify(there, stream_), 0);
      ASSERT_EQ(aclrtWaitAndResetNotify(back, stream_, 0), 0);
    }
  });
  std::thread pong([&] {
    for (int i = 0; i < kRounds; ++i) {
      ASSERT_EQ(aclrtWaitAndResetNotify(there, other_, 0), 0);
      ASSERT_EQ(aclrtValueWait(&counter, static_cast<uint64_t>(i) + 1, ACL_STREAM_WAIT_VALUE_EQ, other_), 0);
      ASSERT_EQ(aclrtRecordNotify(back, other_), 0);
    }
  });
  ping.join();
  pong.join();
  EXPECT_EQ(aclrtSynchronizeDeviceWithTimeout(kPatience), 0);
  EXPECT_EQ(counter, static_cast<uint64_t>(kRounds));
  EXPECT_EQ(aclrtDestroyNotify(there), 0);
  EXPECT_EQ(aclrtDestroyNotify(back), 0);
}

TEST_F(StreamServices, NothingNotesOverflow) {
  uint64_t status[8] = {1, 2, 3};
  EXPECT_EQ(aclrtGetOverflowStatus(status, sizeof status, stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(status[0], 1u);
  EXPECT_NE(Message().find("aclrtGetOverflowStatus is not supported: "), std::string::npos);
  EXPECT_EQ(aclrtResetOverflowStatus(stream_), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  uint32_t flag = 9;
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 0), 0);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 1), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtSetStreamOverflowSwitch(stream_, 2), ACL_ERROR_RT_PARAM_INVALID);
  EXPECT_EQ(aclrtGetStreamOverflowSwitch(stream_, &flag), 0);
  EXPECT_EQ(flag, 0u);
  EXPECT_EQ(aclrtGetStreamOverflowSwitch(stream_, nullptr), ACL_ERROR_INVALID_PARAM);
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), 0);
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_SATURATION), ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_UNDEF), ACL_ERROR_INVALID_PARAM);
  aclrtFloatOverflowMode mode = ACL_RT_OVERFLOW_MODE_UNDEF;
  EXPECT_EQ(aclrtGetDeviceSatMode(&mode), 0);
  EXPECT_EQ(mode, ACL_RT_OVERFLOW_MODE_INFNAN);
  EXPECT_EQ(aclrtGetDeviceSatMode(nullptr), ACL_ERROR_INVALID_PARAM);
  std::thread([&] {
    EXPECT_EQ(aclrtSetDeviceSatMode(ACL_RT_OVERFLOW_MODE_INFNAN), ACL_ERROR_RT_CONTEXT_NULL);
    EXPECT_EQ(aclrtGetDeviceSatMode(&mode), ACL_ERROR_RT_CONTEXT_NULL);
  }).join();
}

}  // namespace
