// Streams: in-order queues of tasks. A small task of an idle stream runs on the submitting thread, everything
// else on a worker.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>

#include "acl/acl_base.h"
#include "acl/queue/task.h"
#include "acl/queue/workers.h"
#include "acl/settings/resource_limits.h"
#include "base/errors.h"
#include "base/sanitizer_hooks.h"
#include "base/text.h"

namespace portacl {
using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kForever = Deadline::max();

// Returns the time `timeout` milliseconds from now; -1 means never.
inline Deadline DeadlineIn(int32_t timeout) noexcept {
  return timeout < 0 ? kForever : std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
}

inline constexpr uint32_t kLeastPriority = 7;  // of a stream; 0 is the greatest

// A slot in which streams live one after the other. A thread that looked one up by its handle may come when
// that life is over and another one has begun. Functions that take the handle then do nothing and report it.
class alignas(64) Stream final : public Runnable {
 public:
  // Begins a stream's life. It is idle: it never existed, or its last life ended with Close.
  void Open(aclrtStream handle, aclrtContext context, int32_t device, bool is_default, uint32_t priority,
            uint32_t flags) noexcept;

  // Ends the stream's life: from now on nothing can be submitted. Waits for the stream's work, or, by force,
  // drops work that has not begun.
  void Close(bool by_force) noexcept;
  // Waits for the thread that closes it, if it is one of the context's.
  void AwaitClosed(aclrtContext context) noexcept;

  enum class Wait {
    kNo,
    kUntilDone,
    kLaunchBlocking  // waits until done, unless called by a function that the stream itself waits for
  };
  enum class Submission {
    kQueued,
    kGone,         // the handle's stream was destroyed
    kWaitsForSelf  // kUntilDone from a function of the program that the stream waits for: a deadlock
  };

  // Appends the task to the queue. The task may run, and be released, before this returns. It always is with
  // kUntilDone, and if it was not queued. The calling thread waits while kMostTasks tasks are queued, unless
  // the stream may be waiting for that thread.
  Submission Submit(aclrtStream handle, Task* task, Wait wait) noexcept;

  // A failure of a task. The first one is kept until somebody synchronises.
  struct Failure {
    aclError status = ACL_SUCCESS;
    const char* text = "";            // static
    char more[Text::kCapacity] = {};  // text after it, made at the failure

    constexpr Failure() = default;
    constexpr Failure(aclError code, const char* static_text) : status(code), text(static_text) {}
    Failure(aclError code, const Text& made) noexcept;
  };
  void NoteFailure(Failure failure) noexcept;

  // Calls f() under the stream's lock; returns false, without a call, if the stream is no longer the
  // handle's.
  template <class F>
  bool IfStill(aclrtStream handle, F f) noexcept {
    std::lock_guard lock(mutex_);
    if (handle_ != handle) return false;
    f();
    return true;
  }

  // Tells whether a failure stops the stream: queued and later tasks are dropped, and every synchronisation reports
  // the failure, until the stream is told to continue. Both are called in IfStill.
  void SetStopsOnFailureLocked(bool stops) noexcept { stops_on_failure_ = stops; }
  bool StopsOnFailureLocked() const noexcept { return stops_on_failure_; }
  // Called in IfStill, too. Failures of tasks are recorded by NoteFailure.
  void NoteFailureLocked(Failure failure) noexcept;
  bool IsCompleteLocked() const noexcept { return done_ == submitted_; }

  // Drops queued tasks and ends waits; waits for a running task. Records `failure` if anything was dropped.
  // Returns false if the deadline passed before the stream was done.
  bool Abort(aclrtStream handle, Failure failure, Deadline deadline) noexcept;

  // Tells whether there is nothing to wait for and no failure: synchronising then takes no lock.
  bool IsQuiescent() const noexcept {
    return is_quiescent_.load(std::memory_order_acquire) && !sanitizer::IsOn(sanitizer::kSync);
  }
  // Sets *mark to the number of tasks submitted so far. Returns false if there is nothing to wait for.
  bool Mark(aclrtStream handle, uint64_t* mark) noexcept;
  // Waits until `mark` tasks are done; returns false if the deadline passed first. Moves the stream's failure
  // to *failure unless that holds one already. If the stream is no longer the handle's, everything counts as
  // done.
  bool Synchronize(aclrtStream handle, uint64_t mark, Deadline deadline, Failure* failure) noexcept;
  // Waits for everything submitted before this call.
  bool Synchronize(aclrtStream handle, Deadline deadline, Failure* failure) noexcept {
    return Synchronize(handle, kAll, deadline, failure);
  }

  // Continues a stream that is parked, or about to be, at its current task. For callers that have removed it
  // from a list that it had joined.
  void Resume() noexcept;
  // Continues the stream if it is at this task. Otherwise does nothing, as in a child process that was forked
  // by the function that the stream waits for.
  void ResumeFrom(const Task* task) noexcept;

  void RunReady(RunLimit limit, uint64_t mark) override;

  aclrtContext context() const noexcept { return context_.load(std::memory_order_relaxed); }
  int32_t device() const noexcept { return device_.load(std::memory_order_relaxed); }
  bool is_default() const noexcept { return is_default_.load(std::memory_order_relaxed); }
  void set_priority(uint32_t priority) noexcept { priority_.store(priority, std::memory_order_relaxed); }
  uint32_t priority() const noexcept { return priority_.load(std::memory_order_relaxed); }
  uint32_t flags() const noexcept { return flags_.load(std::memory_order_relaxed); }
  int32_t id() const noexcept { return id_.load(std::memory_order_relaxed); }

  ResourceLimits limits;
  std::atomic<uint32_t> user_tag{0};              // for the program to use
  std::atomic<uint32_t> caches_operator_info{0};  // as set by the program

  // Repairs the slot in a forked child, where the threads that ran and closed streams do not exist.
  void AfterFork(bool is_live) noexcept;

 private:
  // Limits the queue of a program that never synchronises. CANN's queues are far shorter, so that no order of
  // calls that works there reaches this limit.
  static constexpr uint64_t kMostTasks = 16384;
  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();

  enum class State : uint8_t {
    kIdle,     // nothing is queued
    kRunning,  // a thread runs the current task
    kParked,   // at the current task, until Resume
    kReady     // something is queued; a worker will come
  };

  Submission Queue(aclrtStream handle, Task* task, Wait wait) noexcept;
  void RunFrom(Task* task, RunLimit limit, uint64_t mark);
  void EndTask(Task* task) noexcept;
  Task* NextLocked(RunLimit limit, uint64_t mark, StreamList& can_go_on) noexcept;
  void ResumeLocked(std::unique_lock<std::mutex>& lock) noexcept;
  bool DropsLocked() const noexcept {
    return done_ < drop_through_ || (stops_on_failure_ && failure_.status != ACL_SUCCESS);
  }
  void FinishLocked(Task* task, StreamList& can_go_on) noexcept;
  bool WaitLocked(std::unique_lock<std::mutex>& lock, uint64_t ticket, Deadline deadline) noexcept;

  // Atomic, because threads with a stale handle read them without the lock.
  std::atomic<aclrtContext> context_{nullptr};
  std::atomic<int32_t> device_{0};
  std::atomic<bool> is_default_{false};
  std::atomic<uint32_t> priority_{0};
  std::atomic<uint32_t> flags_{0};
  std::atomic<int32_t> id_{0};

  std::mutex mutex_;
  aclrtStream handle_ = nullptr;  // nullptr between two lives, and while it is closed
  State state_ = State::kIdle;
  bool resumed_early_ = false;
  Task* current_ = nullptr;  // while kRunning or kParked
  Task* first_ = nullptr;    // queued after it
  Task* last_ = nullptr;
  // Nothing is queued or running, and there is no failure to report. Lets synchronising avoid the lock.
  std::atomic<bool> is_quiescent_{false};
  uint64_t submitted_ = 0;  // tasks since the slot exists
  uint64_t done_ = 0;
  uint64_t drop_through_ = 0;  // tasks up to this count are dropped unless they are running
  bool stops_on_failure_ = false;
  uint64_t wake_at_ = kNobody;  // the lowest count that a thread waits for
  std::condition_variable counted_;
  Failure failure_;
};

// Marks that the calling thread runs a function of the program. If `held` is a stream, that stream continues
// only when the function has returned: waiting for it, or for room in it, would never end.
class HostFunctionScope {
 public:
  explicit HostFunctionScope(Stream* held) noexcept;
  ~HostFunctionScope();
  HostFunctionScope(const HostFunctionScope&) = delete;
  HostFunctionScope& operator=(const HostFunctionScope&) = delete;

  static bool Holds(const Stream& stream) noexcept;
  static bool HoldsOneOf(aclrtContext context) noexcept;
  static bool HoldsOneOfDevice(int32_t device) noexcept;
  static bool IsInside() noexcept;

  // Releases the held streams in a forked child.
  static void AfterFork() noexcept;

 private:
  Stream* held_;
  HostFunctionScope* const outer_;
};

// Returns the stream's name in messages of checks.
sanitizer::StreamName NameForChecks(const Stream& stream, aclrtStream handle) noexcept;

// Returns the stream of a handle, or nullptr if its life is over.
Stream* LiveStream(aclrtStream handle) noexcept;

// Reports that a function which the stream waits for is about to wait for the stream, and returns 207000.
aclError FailWaitsForSelf(const char* api) noexcept;

// For the functions of the runtime: reports a timeout below -1 and returns 107000.
aclError CheckTimeout(const char* api, int32_t timeout) noexcept;

// Reports that no thread can be started for work that needs one, and returns 207005.
aclError FailNoThread(const char* api) noexcept;

// Creates a stream in a context. Returns its handle, or nullptr if memory is exhausted.
aclrtStream CreateStream(aclrtContext context, int32_t device, bool is_default, uint32_t priority = 0,
                         uint32_t flags = 0) noexcept;

// Destroys a stream, by force or after its work. Returns false if it was destroyed already, or another thread
// is destroying it.
bool DestroyStream(aclrtStream handle, bool by_force) noexcept;

// Destroys every stream of a context, each after its work, and waits for those that other threads are
// destroying. No stream may be created in the context any more.
void DestroyStreamsOf(aclrtContext context) noexcept;

// Waits for a stream's work and returns its failure; 507046 if the deadline passed first.
aclError SynchronizeStream(const char* api, Stream& stream, aclrtStream handle, Deadline deadline) noexcept;

// Waits for the work of every stream of a context and returns the first failure; 507046 if the deadline
// passed first.
aclError SynchronizeStreamsOf(const char* api, aclrtContext context, Deadline deadline) noexcept;

// Waits for the streams of every context of a device.
aclError SynchronizeStreamsOfDevice(const char* api, int32_t device) noexcept;

// Makes every stream of a device drop its work (see Stream::Abort); returns 507046 if the deadline passed
// first.
aclError AbortStreamsOfDevice(const char* api, int32_t device, Deadline deadline) noexcept;

// Returns how many more streams can be created.
uint32_t StreamsLeft() noexcept;

// Returns how many streams exist, default ones included.
int LiveStreams() noexcept;

}  // namespace portacl
