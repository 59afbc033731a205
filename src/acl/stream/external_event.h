// External events as graphs see them, and streams that wait for one before it is recorded.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <utility>

#include "acl/queue/stream.h"
#include "acl/queue/workers.h"
#include "acl/stream/event_tasks.h"
#include "acl/stream/graph.h"
#include "acl/stream/value_changes.h"

namespace portacl::event_tasks {

// An external event, as graphs see it, and streams that wait for it before it is recorded: a flag that
// recording raises and resetting lowers. Refers to the event.
class ExternalEvent {
 public:
  explicit ExternalEvent(Event* event) noexcept : event_(event) {
    event->references.fetch_add(1, std::memory_order_relaxed);
  }
  ~ExternalEvent() { Unref(event_); }
  ExternalEvent(const ExternalEvent&) = delete;
  ExternalEvent& operator=(const ExternalEvent&) = delete;

  bool IsUp() noexcept {
    std::lock_guard lock(event_->mutex);
    return event_->handle == nullptr || (event_->latest != nullptr && event_->latest->DoneAt());
  }
  void TakeDown() noexcept {
    Recording* before = nullptr;
    {
      std::lock_guard lock(event_->mutex);
      before = std::exchange(event_->latest, nullptr);
    }
    if (before != nullptr) before->Unref();
  }
  // Returns false if memory is exhausted.
  bool Raise() noexcept {
    aclrtEvent handle = nullptr;
    {
      std::lock_guard lock(event_->mutex);
      handle = event_->handle;
    }
    if (handle == nullptr) return true;  // destroyed: nobody waits for it
    Recording* const recording = Recording::New(event_, handle);
    if (recording == nullptr) return false;
    recording->Publish();
    StreamList can_go_on;
    recording->Finish(can_go_on);
    while (Stream* stream = can_go_on.Pop()) stream->Resume();
    return true;
  }

 private:
  Event* const event_;
};

// Records, resets or awaits an external event in a graph.
class RecordedExternal final : public RecordedTask {
 public:
  RecordedExternal(Event* event, RecordedKind kind) noexcept : event_(event), kind_(kind) {}
  Progress Run(Stream& stream, Scratch&) noexcept override {
    switch (kind_) {
      case RecordedKind::kEventWait:
        if (!event_.IsUp()) return Progress::kWaits;
        if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->StreamWaitsForAll(&stream);
        break;
      case RecordedKind::kEventReset:
        event_.TakeDown();
        break;
      default:
        if (!event_.Raise()) {
          stream.NoteFailure({ACL_ERROR_RT_MEMORY_ALLOCATION, "no memory to record an event in a graph."});
        }
    }
    return Progress::kDone;
  }

 private:
  ExternalEvent event_;
  const RecordedKind kind_;
};

// Makes a stream wait for an external event that is not recorded yet. Lives on the heap, since it is rare.
class ExternalWaitTask final : public Task {
 public:
  // Takes over one workers::Reserve.
  explicit ExternalWaitTask(Event* event) noexcept : event_(event) { affinity = Affinity::kReservedWorker; }
  Outcome Run(Stream& stream) noexcept override {
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->WantAll();
    const auto enough = [this] { return given_up_.load() || event_.IsUp(); };
    ValueWait wait;
    while (!enough()) wait.Sleep(enough);
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->StreamWaitsForAll(&stream);
    return Outcome::kDone;
  }
  bool Interrupt(Stream&) noexcept override {
    given_up_.store(true);
    TellOfValueChange();
    return false;
  }
  void Finish(StreamList&) noexcept override {
    workers::Unreserve();
    delete this;
  }

 private:
  ExternalEvent event_;
  std::atomic<bool> given_up_{false};
};

}  // namespace portacl::event_tasks
