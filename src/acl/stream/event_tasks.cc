// Recordings of events, waits for them, and resets (see event_tasks.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/event_tasks.h"

#include "acl/queue/workers.h"
#include "acl/stream/value_changes.h"

namespace portacl::event_tasks {

HandleTable<Event, 0x56> events;

namespace {

HandleTable<Recording, 0x52> recordings;
std::atomic<int> live_recordings{0};

HandleTable<WaitTask, 0x57> wait_tasks;
HandleTable<ResetTask, 0x5A> reset_tasks;

}  // namespace

Recording* Recording::New(Event* event, aclrtEvent handle) noexcept {
  Recording* recording = recordings.Acquire();
  if (recording == nullptr) return nullptr;
  live_recordings.fetch_add(1, std::memory_order_relaxed);
  std::lock_guard lock(recording->mutex_);
  recording->references_.store(1, std::memory_order_relaxed);
  recording->done_ = false;
  recording->event_ = event;
  recording->event_handle_ = handle;
  recording->is_external_ = event->IsExternal();
  recording->signal = sanitizer::IsOn(sanitizer::kSync) ? sanitizer::hooks->NewSignal() : nullptr;
  return recording;
}

void Recording::Publish() noexcept {
  Recording* before = nullptr;
  {
    std::lock_guard lock(event_->mutex);
    if (event_->handle != event_handle_) return;  // destroyed meanwhile: nobody can query it
    before = std::exchange(event_->latest, Ref());
  }
  if (before != nullptr) before->Unref();
}

void Recording::Unref() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) > 1) return;
  live_recordings.fetch_sub(1, std::memory_order_relaxed);
  recordings.Recycle(this);
}

void Unref(Event* event) noexcept {
  if (event->references.fetch_sub(1, std::memory_order_acq_rel) == 1) events.Recycle(event);
}

WaitTask* WaitTask::New(Event* event, Recording* recording, int32_t timeout) noexcept {
  WaitTask* task = wait_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->event_ = event;
  task->recording_ = recording;
  task->timeout_ = timeout;
  task->given_up_.store(false);
  task->affinity = timeout < 0 ? Affinity::kAnywhere : Affinity::kReservedWorker;
  return task;
}

void WaitTask::Finish(StreamList&) noexcept {
  event_->waits.fetch_sub(1, std::memory_order_release);
  recording_->Unref();
  Unref(event_);
  if (affinity == Affinity::kReservedWorker) workers::Unreserve();
  wait_tasks.Recycle(this);
}

ResetTask* ResetTask::New(Event* event) noexcept {
  ResetTask* task = reset_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->event_ = event;
  task->recording_ = nullptr;
  return task;
}

void ResetTask::Publish() noexcept {
  std::lock_guard lock(event_->mutex);
  recording_ = event_->latest == nullptr ? nullptr : event_->latest->Ref();
}

void ResetTask::Finish(StreamList&) noexcept {
  if (recording_ != nullptr) {
    {
      std::lock_guard lock(event_->mutex);
      if (event_->latest == recording_) {
        event_->latest = nullptr;
        recording_->Unref();
      }
    }
    recording_->Unref();
  }
  Unref(event_);
  reset_tasks.Recycle(this);
}

void AfterFork() {
  recordings.ForEachSlot([](Recording& recording) { recording.AfterFork(); });
  events.ForEachSlot([](Event& event) {
    new (&event.mutex) std::mutex;
    event.waits.store(0);
  });
}

int CountRecordings() noexcept { return live_recordings.load(std::memory_order_relaxed); }

}  // namespace portacl::event_tasks
