// What the tests of streams, events, callbacks and executors share: a device, gates, and an operator call with
// its expected result.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "acl/acl.h"
#include "acl/queue/stream.h"
#include "acl/queue/task.h"
#include "acl/queue/workers.h"
#include "acl/sanitizers.h"
#include "acl/stream/event.h"
#include "acl/stream/found_stream.h"
#include "aclnn/executor.h"
#include "aclnnop/aclnn_l1_loss_backward.h"
#include "support/mapped_memory.h"
#include "support/patience.h"

using portacl::testing::kPatience;
using portacl::testing::kPatienceSeconds;

// Ends the process when a test takes longer than it ever should: what hangs would otherwise hold up all others.
class Watchdog {
 public:
  explicit Watchdog(int seconds = kPatienceSeconds * (PORTACL_ASAN || PORTACL_TSAN ? 4 : 1))
      : thread_([this, seconds] { Watch(seconds); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

 private:
  void Watch(int seconds) {
    std::unique_lock lock(mutex_);
    if (changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return done_; })) return;
    std::fprintf(stderr, "This test hangs: %d seconds are over.\n", seconds);
    std::_Exit(3);
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;
};

// How many tasks a stream's queue holds before a thread waits for room.
inline constexpr int kRoom = 16384;

// Long enough for a thread that is about to wait to have come to it, mostly: tests may rely on it to notice a
// defect, not to pass.
inline void LetOthersWait() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

// A host function that holds its stream until the gate is opened. At the end of its life it opens, and waits
// until the streams that were closed with it have left it.
class Gate {
 public:
  ~Gate() {
    Open();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return left_ == closed_; });
  }

  void Close(aclrtStream stream) {
    {
      std::lock_guard lock(mutex_);
      ++closed_;
    }
    ASSERT_EQ(aclrtLaunchHostFunc(stream, Enter, this), ACL_SUCCESS);
  }
  void Wait() {
    std::unique_lock lock(mutex_);
    entered_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return open_; });
  }
  void Open() {
    std::lock_guard lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }
  void WaitUntilEntered() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return entered_; });
  }
  bool is_open() {
    std::lock_guard lock(mutex_);
    return open_;
  }

 private:
  static void Enter(void* argument) {
    auto* gate = static_cast<Gate*>(argument);
    gate->Wait();
    std::lock_guard lock(gate->mutex_);
    ++gate->left_;
    gate->changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  int closed_ = 0;  // streams, and how many of them have left
  int left_ = 0;
  bool entered_ = false;
  bool open_ = false;
};

// A task that stops at a gate: stands for an operator. As it is made, it is cheap: the submitting thread runs it.
class GatedTask final : public portacl::Task {
 public:
  explicit GatedTask(Gate& gate) : gate_(gate) {}
  Outcome Run(portacl::Stream&) noexcept override {
    thread = std::this_thread::get_id();
    gate_.Wait();
    return Outcome::kDone;
  }
  // Its stream's work is being dropped: the stream's lock is held, so whoever opens the gate from here on lets it go on
  // behind that.
  bool Interrupt(portacl::Stream&) noexcept override {
    interrupted_.Open();
    return false;
  }
  void Finish(portacl::StreamList&) noexcept override {}

  void WaitUntilInterrupted() { interrupted_.Wait(); }

  std::thread::id thread;

 private:
  Gate& gate_;
  Gate interrupted_;
};

// The order in which host functions were called.
class CallLog {
 public:
  void Append(int value) {
    std::lock_guard lock(mutex_);
    values_.push_back(value);
  }
  std::vector<int> values() {
    std::lock_guard lock(mutex_);
    return values_;
  }
  bool empty() { return values().empty(); }

 private:
  std::mutex mutex_;
  std::vector<int> values_;
};

struct LogEntry {
  CallLog* log;
  int value;
  static void Call(void* entry) {
    auto* self = static_cast<LogEntry*>(entry);
    self->log->Append(self->value);
  }
};

// One aclnnL1LossBackward over n elements with its own data; values differ from element to element.
struct L1Call {
  explicit L1Call(int64_t n, int seed = 0) : grad(size(n)), self(size(n)), target(size(n)), out(size(n), -1) {
    for (int64_t i = 0; i < n; ++i) {
      grad[size(i)] = static_cast<float>((i * 7 + seed) % 1000) + 0.5f;
      self[size(i)] = static_cast<float>((i * 3 + seed) % 17);
      target[size(i)] = static_cast<float>((i * 5 + seed) % 13);
    }
  }

  static size_t size(int64_t n) { return static_cast<size_t>(n); }
  int64_t count() const { return static_cast<int64_t>(out.size()); }

  float Expected(size_t i) const {
    const float s = self[i] > target[i] ? 1.0f : self[i] < target[i] ? -1.0f : 0.0f;
    return s * grad[i];
  }
  bool IsDone() const {
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] != Expected(i)) return false;
    }
    return true;
  }
  bool IsUntouched() const {
    for (float value : out) {
      if (value != -1.0f) return false;
    }
    return true;
  }
  void Clear() { out.assign(out.size(), -1.0f); }

  // Phase 1; the tensors stay until Launch has returned, or this goes.
  aclnnStatus Plan(aclOpExecutor** executor) {
    const int64_t n = count();
    const size_t first = tensors_.size();
    for (auto* data : {&grad, &self, &target, &out}) {
      tensors_.emplace_back(aclCreateTensor(&n, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &n, 1, data->data()),
                            aclDestroyTensor);
    }
    uint64_t workspace = 0;
    return aclnnL1LossBackwardGetWorkspaceSize(tensors_[first].get(), tensors_[first + 1].get(),
                                               tensors_[first + 2].get(), 0, tensors_[first + 3].get(),
                                               &workspace, executor);
  }
  aclnnStatus Launch(aclrtStream stream) {
    aclOpExecutor* executor = nullptr;
    const size_t before = tensors_.size();
    aclnnStatus status = Plan(&executor);
    if (status == 0) status = aclnnL1LossBackward(nullptr, 0, executor, stream);
    tensors_.resize(before);
    return status;
  }

  portacl::testing::MappedVector<float> grad, self, target, out;

 private:
  std::vector<std::shared_ptr<aclTensor>> tensors_;
};

// Workers without work stay for a while: other tests of this process may have left some.
inline void WaitForWorkersToEnd() {
  const auto patience = std::chrono::steady_clock::now() + std::chrono::milliseconds(kPatience);
  while (portacl::workers::Count() > 0 && std::chrono::steady_clock::now() < patience) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  ASSERT_EQ(portacl::workers::Count(), 0);
}

inline constexpr int64_t kSmall = 100;        // runs on the calling thread of an idle stream
inline constexpr int64_t kLarge = 1'050'000;  // goes to a worker

// A device with one stream; at the end nothing may be left over.
class RuntimeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(aclInit(nullptr), ACL_SUCCESS);
    ASSERT_EQ(aclrtSetDevice(0), ACL_SUCCESS);
    ASSERT_EQ(aclrtCreateStream(&stream_), ACL_SUCCESS);
  }
  void TearDown() override {
    if (stream_ != nullptr) {
      EXPECT_EQ(aclrtDestroyStream(stream_), ACL_SUCCESS);
    }
    EXPECT_EQ(aclrtResetDevice(0), ACL_SUCCESS);
    EXPECT_EQ(aclFinalize(), ACL_SUCCESS);
    EXPECT_EQ(portacl::LiveStreams(), 0);
    EXPECT_EQ(portacl::LiveEvents(), 0);
    EXPECT_EQ(portacl::LiveRecordings(), 0);
    EXPECT_EQ(portacl::LiveExecutors(), 0);
  }

  static aclrtStream NewStream() {
    aclrtStream stream = nullptr;
    EXPECT_EQ(aclrtCreateStream(&stream), ACL_SUCCESS);
    return stream;
  }
  static aclrtStreamStatus StatusOf(aclrtStream stream) {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    EXPECT_EQ(aclrtStreamQuery(stream, &status), ACL_SUCCESS);
    return status;
  }
  static aclrtEvent NewEvent() {
    aclrtEvent event = nullptr;
    EXPECT_EQ(aclrtCreateEvent(&event), ACL_SUCCESS);
    return event;
  }
  static aclrtEventRecordedStatus StatusOfEvent(aclrtEvent event) {
    aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    EXPECT_EQ(aclrtQueryEventStatus(event, &status), ACL_SUCCESS);
    return status;
  }

  aclrtStream stream_ = nullptr;
};
