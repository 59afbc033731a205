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
#include "acl/resource_limits.h"

namespace portacl {

class Stream;

using Deadline = std::chrono::steady_clock::time_point;
inline constexpr Deadline kForever = Deadline::max();

// The moment `timeout` milliseconds from now; -1 is for ever.
inline Deadline DeadlineIn(int32_t timeout) noexcept {
  return timeout < 0 ? kForever : std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout);
}

inline constexpr uint32_t kLeastPriority = 7;  // of a stream; 0 is the greatest

// A chain of streams, linked through themselves. A stream is in at most one: of those that wait for a worker,
// or of those that wait for one recording of an event.
class StreamList {
 public:
  bool empty() const { return first_ == nullptr; }
  void Append(Stream* stream) noexcept;
  void Append(StreamList& others) noexcept;  // leaves `others` empty
  Stream* Pop() noexcept {
    return PopIf([](const Stream&) { return true; });
  }
  bool Remove(const Stream* stream) noexcept {
    return PopIf([stream](const Stream& one) { return &one == stream; }) != nullptr;
  }
  // Takes out the first stream for which wanted(stream) holds; nullptr when there is none.
  template <class Wanted>
  Stream* PopIf(Wanted wanted) noexcept;

 private:
  Stream* first_ = nullptr;
  Stream* last_ = nullptr;
};

// One piece of work in a stream. Tasks live in pooled slots and carry their own links, so that queueing needs
// no heap.
class Task {
 public:
  // Which threads may run it.
  enum class Place : uint8_t {
    kAnywhere,       // cheap: also a thread that only submits
    kWorker,         // takes a while: a worker, unless there is none to be had
    kReservedWorker  // user code, or blocks: a worker and nothing else; workers::Reserve comes before Submit
  };
  enum class Outcome { kDone, kParked };

  // Does the work; no lock is held. kParked: the stream stays at this task, without using a thread, until
  // somebody calls Stream::Resume, which may happen before this returns.
  virtual Outcome Run(Stream& stream) noexcept = 0;

  // The stream is destroyed by force while it is at this task; called under the stream's lock. True: nobody
  // else will call Stream::Resume for it any more.
  virtual bool Interrupt(Stream& /*stream*/) noexcept { return false; }

  // The last call: the task now counts as done, whether it ran or was dropped by force, and its slot goes
  // back. Called under the stream's lock, so that nobody sees the one without the other. Adds the streams
  // that can go on because of it.
  virtual void Finish(StreamList& can_go_on) noexcept = 0;

  Place place = Place::kAnywhere;

 protected:
  ~Task() = default;

 private:
  friend class Stream;
  Task* next_ = nullptr;
};

class alignas(64) Stream {
 public:
  // A stream's life begins. It is idle: it never existed or its last life ended with Close.
  void Open(aclrtContext context, int32_t device, bool is_default, uint32_t priority,
            uint32_t flags) noexcept;

  // Ends its life: waits for the work, or, by force, drops what has not begun.
  void Close(bool by_force) noexcept;

  enum class Wait { kNo, kUntilDone };

  // Puts the task at the end of the queue. It may run, and be released, before this returns; with kUntilDone
  // it always is. The calling thread waits while kMostTasks tasks are in the queue.
  void Submit(Task* task, Wait wait = Wait::kNo) noexcept;

  // For tasks: something went wrong. The first failure is kept until somebody synchronises. `text` is static.
  struct Failure {
    aclError status = ACL_SUCCESS;
    const char* text = "";
  };
  void NoteFailure(Failure failure) noexcept;

  // Whether a failure ends the stream's work: what is queued behind it, or submitted later, is dropped, and
  // every synchronisation reports it, until the stream is told to go on.
  void SetStopsOnFailure(bool stops) noexcept;
  bool StopsOnFailure() noexcept;

  // Drops what is queued and ends waiting; what runs already is waited for. Notes `failure` if anything was
  // dropped. False when the deadline came before the stream was done.
  bool Abort(Failure failure, Deadline deadline) noexcept;

  // Waits until all that was submitted before this call is done; false when the deadline came first. Moves
  // the stream's failure to *failure unless that holds one already.
  bool Synchronize(Deadline deadline, Failure* failure) noexcept;
  // The same for a stream that another thread may destroy meanwhile: does nothing once it is none of the
  // context's.
  bool SynchronizeIn(aclrtContext context, Deadline deadline, Failure* failure) noexcept;
  bool IsComplete() noexcept;

  // Lets a stream go on that is parked, or about to be, at its current task.
  void Resume() noexcept;

  // How far a thread may run a stream's queue.
  enum class Reach { kOneTask, kNoUserCode, kEverything };  // the last only for workers
  // Runs a stream that waited for a worker.
  void RunReady(Reach reach) noexcept;
  // Whether only a worker may run the next task of a stream that waits for one.
  bool NeedsWorker() const noexcept { return needs_worker_; }

  aclrtContext context() const noexcept { return context_.load(std::memory_order_relaxed); }
  int32_t device() const noexcept { return device_.load(std::memory_order_relaxed); }
  bool is_default() const noexcept { return is_default_.load(std::memory_order_relaxed); }
  void set_priority(uint32_t priority) noexcept { priority_.store(priority, std::memory_order_relaxed); }
  uint32_t priority() const noexcept { return priority_.load(std::memory_order_relaxed); }
  uint32_t flags() const noexcept { return flags_.load(std::memory_order_relaxed); }
  int32_t id() const noexcept { return id_.load(std::memory_order_relaxed); }

  ResourceLimits limits;
  std::atomic<uint32_t> user_tag{0};  // whatever the program keeps in it

  // In a forked child, where the threads that ran streams are gone.
  void AfterFork() noexcept;

 private:
  friend class StreamList;

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

  void RunFrom(Task* task, Reach reach) noexcept;
  Task* NextLocked(Reach reach, StreamList& can_go_on) noexcept;
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
  State state_ = State::kIdle;
  bool resumed_early_ = false;
  bool needs_worker_ = false;  // stays as it is while the stream is kReady
  Task* current_ = nullptr;    // while kRunning or kParked
  Task* first_ = nullptr;      // queued behind it
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
  Stream* next_ = nullptr;  // in a StreamList
};

template <class Wanted>
Stream* StreamList::PopIf(Wanted wanted) noexcept {
  Stream* before = nullptr;
  for (Stream* one = first_; one != nullptr; before = one, one = one->next_) {
    if (!wanted(static_cast<const Stream&>(*one))) continue;
    (before == nullptr ? first_ : before->next_) = one->next_;
    if (last_ == one) last_ = before;
    one->next_ = nullptr;
    return one;
  }
  return nullptr;
}

// The stream that a handle means: null is the current context's default stream. nullptr when there is none.
Stream* FindStream(aclrtStream handle) noexcept;

// As FindStream for a function of the runtime: when there is none, reports it and sets *status to 107002 or
// 107003 (decision R4).
Stream* FindStreamFor(const char* api, aclrtStream handle, aclError* status) noexcept;

// For the functions of the runtime: 107000 for a timeout below -1.
aclError CheckTimeout(const char* api, int32_t timeout) noexcept;

// Reports that no thread can be started for work that needs one, and returns 207005.
aclError FailNoThread(const char* api) noexcept;

// Creates a stream in a context; returns its handle, nullptr when memory is exhausted.
aclrtStream CreateStream(aclrtContext context, int32_t device, bool is_default, uint32_t priority = 0,
                         uint32_t flags = 0) noexcept;

// Ends the life of every stream of a context, each after its work.
void DestroyStreamsOf(aclrtContext context) noexcept;

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
