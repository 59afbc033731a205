// Events and the functions of acl_rt.h on them.
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream/event.h"

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/queue/stream.h"
#include "acl/queue/workers.h"
#include "acl/stream/capture.h"
#include "acl/stream/event_tasks.h"
#include "acl/stream/external_event.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/timeouts.h"
#include "acl/stream/value_changes.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/process/fork.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {

using namespace event_tasks;

namespace {

constexpr uint32_t kKnownFlags = ACL_EVENT_SYNC | ACL_EVENT_CAPTURE_STREAM_PROGRESS | ACL_EVENT_TIME_LINE |
                                 ACL_EVENT_DEVICE_USE_ONLY | ACL_EVENT_EXTERNAL;

std::atomic<uint32_t> last_id{0};

aclError Create(const char* api, aclrtEvent* event, uint32_t flags, bool complete_when_unrecorded) noexcept {
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  if (event == nullptr) return FailNullPointer(api, "event", "the address of an aclrtEvent");
  if ((flags & ACL_EVENT_IPC) != 0) {
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, MessageClass::kAclUnsupported,
                Text(api, ": parameter flag has the value ", flags,
                     ", which contains ACL_EVENT_IPC: events between processes are not supported."));
  }
  if (flags == 0 || (flags & ~kKnownFlags) != 0) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text(api, ": parameter flag has the value ", flags,
                     ", accepted: one or more of the ACL_EVENT_ flags."));
  }
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  Event* created = events.Acquire();
  if (created == nullptr) {
    return Fail(ACL_ERROR_RT_NO_EVENT_RESOURCE, MessageClass::kAclInner,
                Text(api, ": no memory or no slot for another event."));
  }
  created->references.store(1, std::memory_order_relaxed);
  created->waits.store(0, std::memory_order_relaxed);
  {
    std::lock_guard lock(created->mutex);
    created->handle = events.NextHandle(created);
    created->flags.store(flags, std::memory_order_relaxed);
    created->id = last_id.fetch_add(1, std::memory_order_relaxed);
    created->complete_when_unrecorded = complete_when_unrecorded;
    created->latest = nullptr;
    created->mark = EventMark();
  }
  *event = events.Publish(created);
  if (sanitizer::IsOn(sanitizer::kHandles)) {
    sanitizer::hooks->HandleMade("an event", "aclrtDestroyEvent", api, *event);
  }
  return ACL_SUCCESS;
}

aclError FailUnknownEvent(const char* api, const char* parameter, aclrtEvent handle) noexcept {
  if (handle == nullptr) return FailNullPointer(api, parameter, "a live event");
  return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
              Text(api, ": parameter ", parameter, " has the value ", static_cast<const void*>(handle),
                   ", which is no event (any more). Accepted: an event made by aclrtCreateEvent and "
                   "not yet destroyed."));
}

// Returns the event of a handle; if there is none, reports it and sets *status. Another thread may destroy it
// at any later moment: see Use.
Event* FindEvent(const char* api, const char* parameter, aclrtEvent handle, aclError* status) noexcept {
  Event* event = events.Find(handle);
  if (event == nullptr) *status = FailUnknownEvent(api, parameter, handle);
  return event;
}

// Calls f() under the event's lock, or reports, without a call, that the event is no longer the handle's.
template <class F>
aclError Use(const char* api, const char* parameter, Event& event, aclrtEvent handle, F f) noexcept {
  {
    std::lock_guard lock(event.mutex);
    if (event.handle == handle) {
      f();
      return ACL_SUCCESS;
    }
  }
  return FailUnknownEvent(api, parameter, handle);
}

aclError FailNotSync(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
              Text(api,
                   ": parameter event was made without the flag ACL_EVENT_SYNC, accepted: an event with "
                   "that flag."));
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory to queue the work."));
}

// Whether a query sees the event as complete. The event's lock is held.
bool IsCompleteLocked(Event& event) noexcept {
  if (event.latest == nullptr) return event.complete_when_unrecorded;
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->WantAll();
  const bool is_complete = event.latest->DoneAt();
  if (is_complete && event.latest->signal != nullptr) sanitizer::hooks->HostWaited(event.latest->signal);
  return is_complete;
}

aclError RecordExternal(const char* api, const FoundStream& stream, Event* event, aclrtEvent handle,
                        RecordedKind kind) noexcept {
  std::unique_ptr<RecordedTask> task(new (std::nothrow) RecordedExternal(event, kind));
  if (task == nullptr) return FailNoMemory(api);
  return Record(
      api, stream, std::move(task),
      {.api = api, .kind = kind, .needs_worker = kind == RecordedKind::kEventWait, .subject = handle});
}

aclError AwaitExternal(const char* api, const FoundStream& stream, Event* event) noexcept {
  if (!workers::Reserve()) return FailNoThread(api);
  PrepareValueChanges();
  auto* const task = new (std::nothrow) ExternalWaitTask(event);
  if (task == nullptr) {
    workers::Unreserve();
    return FailNoMemory(api);
  }
  return stream.SubmitFor(api, task);
}

// Returns the position at which an event was recorded in a capture that is in progress, if it was.
EventMark MarkOf(Event& event) noexcept {
  if (!MayBeCaptured()) return {};
  EventMark mark;
  {
    std::lock_guard lock(event.mutex);
    mark = event.mark;
  }
  return IsUnderWay(mark) ? mark : EventMark();
}

aclError StreamWait(const char* api, aclrtStream stream_handle, aclrtEvent event_handle,
                    int32_t timeout) noexcept {
  aclError status = ACL_SUCCESS;
  Event* event = FindEvent(api, "event", event_handle, &status);
  if (event == nullptr) return status;
  if (!event->CanBeAwaited()) return FailNotSync(api);
  const FoundStream stream = FindStreamFor(api, stream_handle, &status);
  if (!stream) return status;
  if (const EventMark mark = MarkOf(*event); mark.capture != 0)
    return AwaitMark(api, stream, event_handle, mark);
  const bool is_captured = IsInGraph(stream);
  if (event->IsExternal() && is_captured) {
    return RecordExternal(api, stream, event, event_handle, RecordedKind::kEventWait);
  }
  Recording* recording = nullptr;
  bool is_recorded = false;
  status = Use(api, "event", *event, event_handle, [&] {
    is_recorded = event->latest != nullptr;
    if (is_captured) return;
    if (!is_recorded || (event->latest->DoneAt() && !sanitizer::IsOn(sanitizer::kSync))) return;
    recording = event->latest->Ref();
    event->references.fetch_add(1, std::memory_order_relaxed);
    event->waits.fetch_add(1, std::memory_order_relaxed);
  });
  if (status == ACL_SUCCESS && is_captured && is_recorded) {
    return RefuseInCapture(
        api, stream, ACL_ERROR_RT_CAPTURE_DEPENDENCY,
        "the stream is captured and the event is recorded outside of the capture, which no execution "
        "of the graph could wait for; accepted: an event that is recorded in it, or one with the "
        "flag ACL_EVENT_EXTERNAL. The capture is invalidated");
  }
  if (status == ACL_SUCCESS && event->IsExternal() && !is_recorded) return AwaitExternal(api, stream, event);
  if (recording == nullptr) return status;
  const auto take_back = [&] {
    event->waits.fetch_sub(1, std::memory_order_release);
    recording->Unref();
    Unref(event);
  };
  const bool reserve = timeout >= 0;
  if (reserve && !workers::Reserve()) {
    take_back();
    return FailNoThread(api);
  }
  WaitTask* task = WaitTask::New(event, recording, timeout);
  if (task == nullptr) {
    if (reserve) workers::Unreserve();
    take_back();
    return FailNoMemory(api);
  }
  return stream.SubmitFor(api, task);
}

aclError Synchronize(const char* api, aclrtEvent handle, Deadline deadline) noexcept {
  aclError status = ACL_SUCCESS;
  Event* event = FindEvent(api, "event", handle, &status);
  if (event == nullptr) return status;
  if (const EventMark mark = MarkOf(*event); mark.capture != 0) return RefuseMarked(api, mark);
  Recording* recording = nullptr;
  status = Use(api, "event", *event, handle, [&] {
    if (event->latest != nullptr) recording = event->latest->Ref();
  });
  if (recording == nullptr) return status;
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->WantAll();
  const bool in_time = recording->WaitFor(deadline);
  if (in_time && recording->signal != nullptr) sanitizer::hooks->HostWaited(recording->signal);
  recording->Unref();
  if (in_time) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, MessageClass::kAclInner,
              Text(api, ": the timeout ended before the event was complete."));
}

// Sets *time to when the event's latest recording was done; returns 107006 if the event has no such time.
aclError TimeOf(const char* api, const char* parameter, aclrtEvent handle, Clock::time_point* time) noexcept {
  aclError status = ACL_SUCCESS;
  Event* event = FindEvent(api, parameter, handle, &status);
  if (event == nullptr) return status;
  const char* problem = nullptr;
  status = Use(api, parameter, *event, handle, [&] {
    if ((event->flags & ACL_EVENT_TIME_LINE) == 0) {
      problem = " was made without the flag ACL_EVENT_TIME_LINE";
    } else if (event->latest == nullptr) {
      problem = " is not recorded";
    } else if (!event->latest->DoneAt(time)) {
      problem = " is not complete";
    }
  });
  if (problem == nullptr) return status;
  return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_INVALID, MessageClass::kRuntimeValue,
              Text(api, ": parameter ", parameter, problem,
                   ", accepted: an event with that flag, recorded and complete."));
}

}  // namespace

int LiveEvents() noexcept {
  int count = 0;
  events.ForEachLive([&count](void*, Event&) { ++count; });
  return count;
}

int LiveRecordings() noexcept { return CountRecordings(); }

}  // namespace portacl

using namespace portacl;

aclError aclrtCreateEvent(aclrtEvent* event) {
  return Create("aclrtCreateEvent", event, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE, false);
}

aclError aclrtCreateEventWithFlag(aclrtEvent* event, uint32_t flag) {
  return Create("aclrtCreateEventWithFlag", event, flag, false);
}

aclError aclrtCreateEventExWithFlag(aclrtEvent* event, uint32_t flag) {
  return Create("aclrtCreateEventExWithFlag", event, flag, true);
}

aclError aclrtDestroyEvent(aclrtEvent event) {
  aclError status = ACL_SUCCESS;
  if (FindEvent("aclrtDestroyEvent", "event", event, &status) == nullptr) return status;
  Event* taken = events.Take(event);
  if (taken == nullptr) return ACL_SUCCESS;  // another thread has destroyed it at this moment
  if (sanitizer::IsOn(sanitizer::kHandles)) sanitizer::hooks->HandleGoes(event);
  Recording* latest = nullptr;
  {
    std::lock_guard lock(taken->mutex);
    taken->handle = nullptr;
    latest = std::exchange(taken->latest, nullptr);
  }
  if (latest != nullptr) latest->Unref();
  Unref(taken);
  return ACL_SUCCESS;
}

aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream) {
  const profile::Call profiled("aclrtRecordEvent");
  aclError status = ACL_SUCCESS;
  Event* found = FindEvent("aclrtRecordEvent", "event", event, &status);
  if (found == nullptr) return status;
  const FoundStream queue = FindStreamFor("aclrtRecordEvent", stream, &status);
  if (!queue) return status;
  EventMark mark;
  if (IsInGraph(queue)) {
    if (found->IsExternal()) {
      return RecordExternal("aclrtRecordEvent", queue, found, event, RecordedKind::kEventRecord);
    }
    status = RecordMark("aclrtRecordEvent", queue, event, &mark);
    if (status == ACL_SUCCESS)
      status = Use("aclrtRecordEvent", "event", *found, event, [&] { found->mark = mark; });
    return status;
  }
  status = Use("aclrtRecordEvent", "event", *found, event, [&] { found->mark = mark; });
  if (status != ACL_SUCCESS) return status;
  Recording* recording = Recording::New(found, event);
  if (recording == nullptr) return FailNoMemory("aclrtRecordEvent");
  return queue.SubmitFor("aclrtRecordEvent", recording);
}

aclError aclrtResetEvent(aclrtEvent event, aclrtStream stream) {
  const profile::Call profiled("aclrtResetEvent");
  aclError status = ACL_SUCCESS;
  Event* found = FindEvent("aclrtResetEvent", "event", event, &status);
  if (found == nullptr) return status;
  if (!found->CanBeAwaited()) return FailNotSync("aclrtResetEvent");
  const FoundStream queue = FindStreamFor("aclrtResetEvent", stream, &status);
  if (!queue) return status;
  if (IsInGraph(queue)) {
    if (found->IsExternal()) {
      return RecordExternal("aclrtResetEvent", queue, found, event, RecordedKind::kEventReset);
    }
    return ACL_SUCCESS;  // the next execution records it anew
  }
  bool recorded = false;
  status = Use("aclrtResetEvent", "event", *found, event, [&] {
    recorded = found->latest != nullptr;
    if (recorded) found->references.fetch_add(1, std::memory_order_relaxed);
  });
  if (!recorded) return status;
  ResetTask* task = ResetTask::New(found);
  if (task == nullptr) {
    Unref(found);
    return FailNoMemory("aclrtResetEvent");
  }
  return queue.SubmitFor("aclrtResetEvent", task);
}

aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event) {
  const profile::Call profiled("aclrtStreamWaitEvent");
  return StreamWait("aclrtStreamWaitEvent", stream, event, WaitTimeout());
}

aclError aclrtStreamWaitEventWithTimeout(aclrtStream stream, aclrtEvent event, int32_t timeout) {
  const profile::Call profiled("aclrtStreamWaitEventWithTimeout");
  if (aclError status = CheckTimeout("aclrtStreamWaitEventWithTimeout", timeout)) return status;
  return StreamWait("aclrtStreamWaitEventWithTimeout", stream, event, timeout);
}

aclError aclrtSynchronizeEvent(aclrtEvent event) {
  const profile::Call profiled("aclrtSynchronizeEvent");
  return Synchronize("aclrtSynchronizeEvent", event, kForever);
}

aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout) {
  const profile::Call profiled("aclrtSynchronizeEventWithTimeout");
  if (aclError status = CheckTimeout("aclrtSynchronizeEventWithTimeout", timeout)) return status;
  return Synchronize("aclrtSynchronizeEventWithTimeout", event, DeadlineIn(timeout));
}

aclError aclrtQueryEvent(aclrtEvent event, aclrtEventStatus* status) {
  aclError failure = ACL_SUCCESS;
  Event* found = FindEvent("aclrtQueryEvent", "event", event, &failure);
  if (found == nullptr) return failure;
  if (status == nullptr) {
    return FailNullPointer("aclrtQueryEvent", "status", "the address of an aclrtEventStatus");
  }
  if (const EventMark mark = MarkOf(*found); mark.capture != 0) return RefuseMarked("aclrtQueryEvent", mark);
  return Use("aclrtQueryEvent", "event", *found, event, [&] {
    *status = IsCompleteLocked(*found) ? ACL_EVENT_STATUS_COMPLETE : ACL_EVENT_STATUS_NOT_READY;
  });
}

aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus* status) {
  aclError failure = ACL_SUCCESS;
  Event* found = FindEvent("aclrtQueryEventStatus", "event", event, &failure);
  if (found == nullptr) return failure;
  if (status == nullptr) {
    return FailNullPointer("aclrtQueryEventStatus", "status", "the address of an aclrtEventRecordedStatus");
  }
  if (const EventMark mark = MarkOf(*found); mark.capture != 0) {
    return RefuseMarked("aclrtQueryEventStatus", mark);
  }
  return Use("aclrtQueryEventStatus", "event", *found, event, [&] {
    *status =
        IsCompleteLocked(*found) ? ACL_EVENT_RECORDED_STATUS_COMPLETE : ACL_EVENT_RECORDED_STATUS_NOT_READY;
  });
}

aclError aclrtQueryEventWaitStatus(aclrtEvent event, aclrtEventWaitStatus* status) {
  aclError failure = ACL_SUCCESS;
  Event* found = FindEvent("aclrtQueryEventWaitStatus", "event", event, &failure);
  if (found == nullptr) return failure;
  if (status == nullptr) {
    return FailNullPointer("aclrtQueryEventWaitStatus", "status", "the address of an aclrtEventWaitStatus");
  }
  return Use("aclrtQueryEventWaitStatus", "event", *found, event, [&] {
    *status = found->waits.load(std::memory_order_acquire) == 0 ? ACL_EVENT_WAIT_STATUS_COMPLETE
                                                                : ACL_EVENT_WAIT_STATUS_NOT_READY;
  });
}

aclError aclrtEventElapsedTime(float* ms, aclrtEvent startEvent, aclrtEvent endEvent) {
  const char* const api = "aclrtEventElapsedTime";
  if (ms == nullptr) return FailNullPointer(api, "ms", "the address of a float");
  Clock::time_point start;
  Clock::time_point end;
  if (aclError status = TimeOf(api, "startEvent", startEvent, &start)) return status;
  if (aclError status = TimeOf(api, "endEvent", endEvent, &end)) return status;
  if (end < start) {
    return Fail(ACL_ERROR_RT_EVENT_TIMESTAMP_REVERSAL, MessageClass::kRuntimeValue,
                Text(api, ": parameter endEvent was complete before startEvent, accepted: the later event."));
  }
  *ms = std::chrono::duration<float, std::milli>(end - start).count();
  return ACL_SUCCESS;
}

aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp) {
  const char* const api = "aclrtEventGetTimestamp";
  if (timestamp == nullptr) return FailNullPointer(api, "timestamp", "the address of a uint64_t");
  Clock::time_point time;
  if (aclError status = TimeOf(api, "event", event, &time)) return status;
  *timestamp = static_cast<uint64_t>(
      std::chrono::duration_cast<std::chrono::microseconds>(time.time_since_epoch()).count());
  return ACL_SUCCESS;
}

aclError aclrtGetEventId(aclrtEvent event, uint32_t* eventId) {
  const char* const api = "aclrtGetEventId";
  if (eventId == nullptr) return FailNullPointer(api, "eventId", "the address of a uint32_t");
  aclError status = ACL_SUCCESS;
  Event* found = FindEvent(api, "event", event, &status);
  if (found == nullptr) return status;
  return Use(api, "event", *found, event, [&] { *eventId = found->id; });
}
