// Events and the tasks of streams that concern them: recordings, waits for them, and resets.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "acl/stream/capture.h"
#include "acl/stream/timeouts.h"
#include "acl/stream/value_changes.h"
#include "base/handle_table.h"
#include "base/process/cancellation.h"
#include "base/sanitizer_hooks.h"

namespace portacl::event_tasks {

using Clock = std::chrono::steady_clock;

struct Event;

// A call of aclrtRecordEvent, which is done when the stream reaches it. Recordings are objects of their own,
// because an event may be recorded again, or destroyed, while streams still wait for an earlier recording. A
// recording is referenced by the event whose latest recording it is, by its queue, and by the tasks that wait
// for it.
class Recording final : public Task {
 public:
  // Becomes the event's latest recording at the moment it is queued. No wait for it, in whichever stream, can
  // therefore be queued before it, so that waits cannot form a cycle.
  void Publish() noexcept override;
  Outcome Run(Stream& stream) noexcept override {
    if (signal != nullptr) sanitizer::hooks->Raise(signal, &stream);
    return Outcome::kDone;
  }
  void Finish(StreamList& can_go_on) noexcept override {
    {
      std::lock_guard lock(mutex_);
      done_ = true;
      time_ = Clock::now();
      can_go_on.Append(waiting_);
      changed_.notify_all();
    }
    if (is_external_) TellOfValueChange();
    Unref();
  }

  // Returns a fresh recording with a reference for a queue, or nullptr if memory is exhausted.
  static Recording* New(Event* event, aclrtEvent handle) noexcept;
  Recording* Ref() noexcept {
    references_.fetch_add(1, std::memory_order_relaxed);
    return this;
  }
  void Unref() noexcept;

  // Sets *time to when it was done; returns false if it is not.
  bool DoneAt(Clock::time_point* time = nullptr) noexcept {
    std::lock_guard lock(mutex_);
    if (done_ && time != nullptr) *time = time_;
    return done_;
  }

  sanitizer::SignalPointer signal;  // for the checks of order

  // Makes the recording resume the stream when it is done. Returns false if it is done already.
  bool Join(Stream& stream) noexcept {
    std::lock_guard lock(mutex_);
    if (!done_) waiting_.Append(&stream);
    return !done_;
  }
  // Removes the stream; returns false if it has been resumed already.
  bool Leave(Stream& stream) noexcept {
    std::lock_guard lock(mutex_);
    return waiting_.Remove(&stream);
  }

  // Blocks the calling thread; returns false if the deadline passed first, or `given_up` became true.
  bool WaitFor(Deadline deadline, const std::atomic<bool>* given_up = nullptr) noexcept {
    const auto enough = [&] { return done_ || (given_up != nullptr && given_up->load()); };
    const CancellationDeferred deferred;
    std::unique_lock lock(mutex_);
    if (deadline == kForever) {
      changed_.wait(lock, enough);
    } else {
      changed_.wait_until(lock, deadline, enough);
    }
    return done_;
  }
  void WakeThreads() noexcept {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  // Resets the recording in a forked child: work in flight stays with the parent, and nobody may wait for it
  // here.
  void AfterFork() noexcept {
    new (&mutex_) std::mutex;
    new (&changed_) std::condition_variable;
    waiting_ = StreamList();
    if (!std::exchange(done_, true)) time_ = Clock::now();
  }

 private:
  std::atomic<int> references_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = true;
  Clock::time_point time_{};
  StreamList waiting_;
  Event* event_ = nullptr;
  aclrtEvent event_handle_ = nullptr;
  bool is_external_ = false;  // graphs wait for its event
};

// Tasks in streams refer to an event, too, so that its slot outlives aclrtDestroyEvent.
struct Event {
  std::atomic<int> references{0};
  std::atomic<int> waits{0};  // waits of streams that are not over
  std::atomic<uint32_t> flags{0};
  std::mutex mutex;
  aclrtEvent handle = nullptr;  // nullptr once it is destroyed, for threads that looked it up before
  uint32_t id = 0;
  bool complete_when_unrecorded = false;  // made by aclrtCreateEventExWithFlag
  Recording* latest = nullptr;            // nullptr: not recorded
  EventMark mark;                         // of the last recording, if it was in a capture

  bool IsExternal() const noexcept { return (flags & ACL_EVENT_EXTERNAL) != 0; }
  bool CanBeAwaited() const noexcept { return (flags & (ACL_EVENT_SYNC | ACL_EVENT_EXTERNAL)) != 0; }
};

extern HandleTable<Event, 0x56> events;

// Lets go of a reference.
void Unref(Event* event) noexcept;

// Makes a stream wait for a recording: parked, without using a thread. With a timeout a worker waits.
class WaitTask final : public Task {
 public:
  Outcome Run(Stream& stream) noexcept override {
    if (recording_->signal != nullptr) {
      sanitizer::hooks->StreamWaits(&stream, recording_->signal);
      sanitizer::hooks->WantAll();
    }
    if (timeout_ < 0) {
      if (!recording_->Join(stream)) return Outcome::kDone;
      // An Interrupt before the stream joined found nothing to remove.
      return given_up_.load() && recording_->Leave(stream) ? Outcome::kDone : Outcome::kParked;
    }
    if (!recording_->WaitFor(DeadlineIn(timeout_), &given_up_) && !given_up_.load()) {
      stream.NoteFailure({ACL_ERROR_RT_EVENT_SYNC_TIMEOUT,
                          "the timeout of aclrtStreamWaitEventWithTimeout or aclrtSetOpWaitTimeout ended "
                          "before the event was complete; the stream went on."});
    }
    return Outcome::kDone;
  }
  bool Interrupt(Stream& stream) noexcept override {
    given_up_.store(true);
    recording_->WakeThreads();
    return timeout_ < 0 && recording_->Leave(stream);
  }
  void Finish(StreamList&) noexcept override;

  // Takes over a reference to each; -1 waits forever. Returns nullptr if memory is exhausted.
  static WaitTask* New(Event* event, Recording* recording, int32_t timeout) noexcept;

 private:
  Event* event_ = nullptr;
  Recording* recording_ = nullptr;
  int32_t timeout_ = -1;
  std::atomic<bool> given_up_{false};
};

// Makes an event unrecorded again, in stream order, unless it was recorded anew meanwhile.
class ResetTask final : public Task {
 public:
  // Undoes the recording that is the latest at the moment this task is queued.
  void Publish() noexcept override;
  Outcome Run(Stream&) noexcept override { return Outcome::kDone; }
  void Finish(StreamList&) noexcept override;

  // Takes over a reference to the event; returns nullptr if memory is exhausted.
  static ResetTask* New(Event* event) noexcept;

 private:
  Event* event_ = nullptr;
  Recording* recording_ = nullptr;
};

// The number of recordings in use.
int CountRecordings() noexcept;

// Resets all events and recordings in a forked child.
void AfterFork();

}  // namespace portacl::event_tasks
