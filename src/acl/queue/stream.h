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
#include "acl/errors.h"
#include "acl/queue/task.h"
#include "acl/queue/workers.h"
#include "acl/settings/resource_limits.h"
#include "acl/text.h"
#include "check/settings.h"

namespace portacl {
namespace sanitizer {
struct StreamName;
}

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kForever = Deadline::max();

// The moment `timeout` milliseconds from now; -1 is for ever.
inline Deadline DeadlineIn(int32_t timeout) noexcept {
  return timeout < 0 ? kForever : std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
}

inline constexpr uint32_t kLeastPriority = 7;  // of a stream; 0 is the greatest

// A slot in which streams live one after the other. Who looked one up by its handle may come when that life is
// over, and another one has begun: functions that take the handle do nothing then, and say so.
class alignas(64) Stream final : public Runnable {
 public:
  // A stream's life begins. It is idle: it never existed or its last life ended with Close.
  void Open(aclrtStream handle, aclrtContext context, int32_t device, bool is_default, uint32_t priority,
            uint32_t flags) noexcept;

  // Ends its life: from now on nothing is submitted. Waits for the work, or, by force, drops what has not
  // begun.
  void Close(bool by_force) noexcept;
  // Waits for the thread that closes it, if it is one of the context's.
  void AwaitClosed(aclrtContext context) noexcept;

  enum class Wait {
    kNo,
    kUntilDone,
    kLaunchBlocking  // until done, but not by a function that the stream itself waits for
  };
  enum class Submission {
    kQueued,
    kGone,         // the stream is not the handle's (any more)
    kWaitsForSelf  // kUntilDone by a function of the program that the stream waits for: it would never end
  };

  // Puts the task at the end of the queue. It may run, and be released, before this returns; with kUntilDone
  // it always is, and so it is when it was not queued. The calling thread waits while kMostTasks tasks are in
  // the queue, unless the stream may be waiting for that thread.
  Submission Submit(aclrtStream handle, Task* task, Wait wait) noexcept;

  // For tasks: something went wrong. The first failure is kept until somebody synchronises.
  struct Failure {
    aclError status = ACL_SUCCESS;
    const char* text = "";            // static
    char more[Text::kCapacity] = {};  // what follows it, made when it happened

    constexpr Failure() = default;
    constexpr Failure(aclError code, const char* static_text) : status(code), text(static_text) {}
    Failure(aclError code, const Text& made) noexcept;
  };
  void NoteFailure(Failure failure) noexcept;

  // Calls f() under the stream's lock; false, without a call, when it is not the handle's (any more).
  template <class F>
  bool IfStill(aclrtStream handle, F f) noexcept {
    std::lock_guard lock(mutex_);
    if (handle_ != handle) return false;
    f();
    return true;
  }

  // Whether a failure ends the stream's work: what is queued behind it, or submitted later, is dropped, and
  // every synchronisation reports it, until the stream is told to go on. Both are called in IfStill.
  void SetStopsOnFailureLocked(bool stops) noexcept { stops_on_failure_ = stops; }
  bool StopsOnFailureLocked() const noexcept { return stops_on_failure_; }
  // The same; what the tasks say went wrong is noted by NoteFailure.
  void NoteFailureLocked(Failure failure) noexcept;
  bool IsCompleteLocked() const noexcept { return done_ == submitted_; }

  // Drops what is queued and ends waiting; what runs already is waited for. Notes `failure` if anything was
  // dropped. False when the deadline came before the stream was done.
  bool Abort(aclrtStream handle, Failure failure, Deadline deadline) noexcept;

  // Nothing to wait for, and no failure: synchronising takes no lock then.
  bool HasNothingToSay() const noexcept {
    return has_nothing_to_say_.load(std::memory_order_acquire) && !sanitizer::IsOn(sanitizer::kSync);
  }
  // How many tasks were submitted until now. False when it has nothing to say.
  bool Mark(aclrtStream handle, uint64_t* mark) noexcept;
  // Waits until as many tasks are done; false when the deadline came first. Moves the stream's failure to
  // *failure unless that holds one already. All is done when the stream is not the handle's (any more).
  bool Synchronize(aclrtStream handle, uint64_t mark, Deadline deadline, Failure* failure) noexcept;
  // Waits for what was submitted before this call.
  bool Synchronize(aclrtStream handle, Deadline deadline, Failure* failure) noexcept {
    return Synchronize(handle, kAll, deadline, failure);
  }

  // Lets a stream go on that is parked, or about to be, at its current task: for who took it out of a list
  // that it had joined.
  void Resume() noexcept;
  // The same for who knows the task. Does nothing when the stream is not at it (any more), as in a child
  // process that was forked by what the stream waits for.
  void ResumeFrom(const Task* task) noexcept;

  void RunReady(Reach reach, uint64_t mark) override;

  aclrtContext context() const noexcept { return context_.load(std::memory_order_relaxed); }
  int32_t device() const noexcept { return device_.load(std::memory_order_relaxed); }
  bool is_default() const noexcept { return is_default_.load(std::memory_order_relaxed); }
  void set_priority(uint32_t priority) noexcept { priority_.store(priority, std::memory_order_relaxed); }
  uint32_t priority() const noexcept { return priority_.load(std::memory_order_relaxed); }
  uint32_t flags() const noexcept { return flags_.load(std::memory_order_relaxed); }
  int32_t id() const noexcept { return id_.load(std::memory_order_relaxed); }

  ResourceLimits limits;
  std::atomic<uint32_t> user_tag{0};              // whatever the program keeps in it
  std::atomic<uint32_t> caches_operator_info{0};  // as the program has set it

  // In a forked child, where the threads that ran and closed streams are gone.
  void AfterFork(bool is_live) noexcept;

 private:
  // Bounds what a program that never synchronises can pile up. CANN's queues are far shorter, so that no
  // order of calls that works there comes to the end of this one.
  static constexpr uint64_t kMostTasks = 16384;
  static constexpr uint64_t kNobody = std::numeric_limits<uint64_t>::max();

  enum class State : uint8_t {
    kIdle,     // nothing queued
    kRunning,  // a thread runs the current task
    kParked,   // at the current task, waiting for Resume
    kReady     // something queued; a worker will come
  };

  Submission Queue(aclrtStream handle, Task* task, Wait wait) noexcept;
  void RunFrom(Task* task, Reach reach, uint64_t mark);
  void EndTask(Task* task) noexcept;
  Task* NextLocked(Reach reach, uint64_t mark, StreamList& can_go_on) noexcept;
  void ResumeLocked(std::unique_lock<std::mutex>& lock) noexcept;
  bool DropsLocked() const noexcept {
    return done_ < drop_through_ || (stops_on_failure_ && failure_.status != ACL_SUCCESS);
  }
  void FinishLocked(Task* task, StreamList& can_go_on) noexcept;
  bool WaitLocked(std::unique_lock<std::mutex>& lock, uint64_t ticket, Deadline deadline) noexcept;

  // Read without the lock by threads that hold a stale handle, hence atomic.
  std::atomic<aclrtContext> context_{nullptr};
  std::atomic<int32_t> device_{0};
  std::atomic<bool> is_default_{false};
  std::atomic<uint32_t> priority_{0};
  std::atomic<uint32_t> flags_{0};
  std::atomic<int32_t> id_{0};

  std::mutex mutex_;
  aclrtStream handle_ = nullptr;  // null between two lives, and while it is closed
  State state_ = State::kIdle;
  bool resumed_early_ = false;
  Task* current_ = nullptr;  // while kRunning or kParked
  Task* first_ = nullptr;    // queued behind it
  Task* last_ = nullptr;
  // Nothing is queued or running, and there is no failure to report: so that synchronising then takes no lock.
  std::atomic<bool> has_nothing_to_say_{false};
  uint64_t submitted_ = 0;  // tasks since the slot exists
  uint64_t done_ = 0;
  uint64_t drop_through_ = 0;  // tasks up to this count are dropped unless they run already
  bool stops_on_failure_ = false;
  uint64_t wake_at_ = kNobody;  // the lowest count that a waiting thread waits for
  std::condition_variable counted_;
  Failure failure_;
};

// While it exists the calling thread runs a function of the program. If `held` is a stream, that one goes on
// only when the function has returned: waiting for it, or for room in it, would never end.
class UserCode {
 public:
  explicit UserCode(Stream* held) noexcept;
  ~UserCode();
  UserCode(const UserCode&) = delete;
  UserCode& operator=(const UserCode&) = delete;

  static bool Holds(const Stream& stream) noexcept;
  static bool HoldsOneOf(aclrtContext context) noexcept;
  static bool HoldsOneOfDevice(int32_t device) noexcept;
  static bool IsInside() noexcept;

  // In a forked child: no stream is held.
  static void AfterFork() noexcept;

 private:
  Stream* held_;
  UserCode* const outer_;
};

// The stream as messages of checks name it.
sanitizer::StreamName NameForChecks(const Stream& stream, aclrtStream handle) noexcept;

// The stream of a handle, nullptr when its life is over.
Stream* LiveStream(aclrtStream handle) noexcept;

// Reports that a function which the stream waits for is about to wait for the stream, and returns 207000.
aclError FailWaitsForSelf(const char* api) noexcept;

// For the functions of the runtime: 107000 for a timeout below -1.
aclError CheckTimeout(const char* api, int32_t timeout) noexcept;

// Reports that no thread can be started for work that needs one, and returns 207005.
aclError FailNoThread(const char* api) noexcept;

// Creates a stream in a context; returns its handle, nullptr when memory is exhausted.
aclrtStream CreateStream(aclrtContext context, int32_t device, bool is_default, uint32_t priority = 0,
                         uint32_t flags = 0) noexcept;

// Ends the life of a stream, by force or after its work; false when that is over already, or another thread ends it.
bool DestroyStream(aclrtStream handle, bool by_force) noexcept;

// Ends the life of every stream of a context, each after its work, and waits for those that other threads
// are about to end. No stream may be made in the context any more.
void DestroyStreamsOf(aclrtContext context) noexcept;

// Waits for the work of a stream, then returns the failure found in it; 507046 when the deadline came first.
aclError SynchronizeStream(const char* api, Stream& stream, aclrtStream handle, Deadline deadline) noexcept;

// Waits for the work of every stream of a context, then returns the first failure found in one; 507046 when
// the deadline came first.
aclError SynchronizeStreamsOf(const char* api, aclrtContext context, Deadline deadline) noexcept;

// The same for the streams of every context of a device.
aclError SynchronizeStreamsOfDevice(const char* api, int32_t device) noexcept;

// Has every stream of a device drop its work (see Stream::Abort); 507046 when the deadline came first.
aclError AbortStreamsOfDevice(const char* api, int32_t device, Deadline deadline) noexcept;

// How many more streams there is room for.
uint32_t StreamsLeft() noexcept;

// How many streams exist, default ones included.
int LiveStreams() noexcept;

}  // namespace portacl
