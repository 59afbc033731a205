// Functions of the program in stream order: host functions, and callbacks that a subscribed thread processes.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <mutex>

#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "acl/queue/subscriptions.h"
#include "acl/queue/workers.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/process/cancellation.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

constexpr Stream::Failure kThrew{ACL_ERROR_RT_INTERNAL_ERROR,
                                 "a host function threw an exception; the stream went on."};
constexpr Stream::Failure kEndedItsThread{
    ACL_ERROR_RT_INTERNAL_ERROR,
    "a host function or callback ended its thread (pthread_exit, pthread_cancel); the stream went on."};
constexpr Stream::Failure kNobodySubscribed{
    ACL_ERROR_RT_STREAM_NO_CB_REG,
    "no thread was subscribed to the stream's callbacks (any more) when one was due; it was not called."};

class HostFunctionTask final : public Task {
 public:
  PORTACL_CATCHES_UNWINDING Outcome Run(Stream& stream) override {
    const HostFunctionScope host_function_scope(&stream);
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->HostWaited(&stream);
    try {
      function_(argument_);
    } catch (const ThreadUnwinding&) {
      stream.NoteFailure(kEndedItsThread);
      throw;
    } catch (...) {
      stream.NoteFailure(kThrew);
    }
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->HostFunctionEnds(&stream);
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override;

  // Takes over one workers::Reserve. Returns nullptr if memory is exhausted.
  static HostFunctionTask* New(aclrtHostFunc function, void* argument) noexcept;

 private:
  aclrtHostFunc function_ = nullptr;
  void* argument_ = nullptr;
};

HandleTable<HostFunctionTask, 0x48> host_function_tasks;

HostFunctionTask* HostFunctionTask::New(aclrtHostFunc function, void* argument) noexcept {
  HostFunctionTask* task = host_function_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->function_ = function;
  task->argument_ = argument;
  task->affinity = Affinity::kReservedWorker;
  return task;
}

void HostFunctionTask::Finish(StreamList&) noexcept {
  workers::Unreserve();
  host_function_tasks.Recycle(this);
}

}  // namespace

// Posts a callback to the thread that is subscribed to the stream. A blocking one parks the stream until that
// thread has processed it. Both the stream and the thread's queue refer to it.
class CallbackTask final : public Task, public DueCallback {
 public:
  Outcome Run(Stream& of) noexcept override;
  bool Interrupt(Stream& of) noexcept override;
  void Finish(StreamList&) noexcept override { Unref(); }
  void Unref() noexcept;

  void Process() override;
  void Drop() noexcept override {
    if (blocks) stream->ResumeFrom(this);
    Unref();
  }

  static CallbackTask* New(aclrtCallback function, void* argument, bool blocks) noexcept;

  bool blocks = false;
  bool dropped = false;             // guarded by the reports' mutex
  sanitizer::SignalPointer signal;  // for the checks of order: the stream has reached it

 private:
  aclrtCallback function_ = nullptr;
  void* argument_ = nullptr;
  std::atomic<int> references_{0};
};

namespace {

// Marks a thread that is in aclrtProcessReport, where it may be cancelled. The reports' mutex is held at
// construction and destruction.
class Inside {
 public:
  Inside(Reports& reports, uint64_t thread, Subscriber& subscriber) noexcept
      : reports_(reports), thread_(thread), subscriber_(subscriber) {
    ++subscriber_.inside;
  }
  ~Inside() {
    --subscriber_.inside;
    reports_.EraseIfUnused(thread_);
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

 private:
  Reports& reports_;
  const uint64_t thread_;
  Subscriber& subscriber_;
};

HandleTable<CallbackTask, 0x42> callback_tasks;

}  // namespace

CallbackTask* CallbackTask::New(aclrtCallback function, void* argument, bool blocks) noexcept {
  CallbackTask* task = callback_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->function_ = function;
  task->argument_ = argument;
  task->blocks = blocks;
  task->dropped = false;
  task->references_.store(1, std::memory_order_relaxed);
  return task;
}

void CallbackTask::Unref() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) callback_tasks.Recycle(this);
}

Task::Outcome CallbackTask::Run(Stream& of) noexcept {
  const bool parks = blocks;  // copied, since a posted callback may be processed and freed at any time
  if (sanitizer::IsOn(sanitizer::kSync)) {
    signal = sanitizer::hooks->NewSignal();
    sanitizer::hooks->Raise(signal, &of);
    sanitizer::hooks->WantAll();
  }
  {
    Reports& reports = TheReports();
    std::lock_guard lock(reports.mutex);
    if (dropped) return Outcome::kDone;
    if (Subscriber* subscriber = reports.OfStream(&of)) {
      stream = &of;
      references_.fetch_add(1, std::memory_order_relaxed);
      subscriber->due.Append(this);
      subscriber->posted.notify_one();
      return parks ? Outcome::kParked : Outcome::kDone;
    }
  }
  of.NoteFailure(kNobodySubscribed);
  return Outcome::kDone;
}

bool CallbackTask::Interrupt(Stream& of) noexcept {
  Reports& reports = TheReports();
  std::lock_guard lock(reports.mutex);
  dropped = true;
  Subscriber* subscriber = reports.OfStream(&of);
  if (subscriber == nullptr || !subscriber->due.Remove(this)) {
    return false;
  }
  Unref();
  return blocks;
}

PORTACL_CATCHES_UNWINDING void CallbackTask::Process() {
  Stream* const parked = blocks ? stream : nullptr;
  const auto end = [&](const Stream::Failure* failure) noexcept {
    if (parked != nullptr) {
      if (failure != nullptr) parked->NoteFailure(*failure);
      parked->ResumeFrom(this);
    }
    Unref();
  };
  if (signal != nullptr) sanitizer::hooks->HostWaited(signal);
  try {
    const HostFunctionScope host_function_scope(parked);
    function_(argument_);
  } catch (const ThreadUnwinding&) {
    end(&kEndedItsThread);
    throw;
  } catch (...) {
    end(&kThrew);
    return;
  }
  if (parked != nullptr && signal != nullptr) sanitizer::hooks->HostFunctionEnds(parked);
  end(nullptr);
}

}  // namespace portacl

using namespace portacl;

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  const profile::Call profiled("aclrtLaunchHostFunc");
  const char* const api = "aclrtLaunchHostFunc";
  if (fn == nullptr) return FailNullPointer(api, "fn", "a function");
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  const bool is_captured = IsCaptured(queue);
  if (!workers::Reserve()) return FailNoThread(api);
  HostFunctionTask* task = HostFunctionTask::New(fn, args);
  if (task == nullptr) {
    workers::Unreserve();
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory to queue the work."));
  }
  if (is_captured) {
    return Record(api, queue, task, {.api = api, .kind = RecordedKind::kHostFunction, .needs_worker = true});
  }
  if (sanitizer::IsOn(sanitizer::kSync)) {
    sanitizer::hooks->Queue(task, api, NameForChecks(*queue.stream, queue.handle), {},
                            sanitizer::Waits::kForAnything);
    sanitizer::hooks->WantAll();  // the program may wait for the function by its own means
  }
  return queue.SubmitFor(api, task);
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  const char* const api = "aclrtSubscribeReport";
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  Reports& reports = TheReports();
  std::lock_guard lock(reports.mutex);
  // A thread that destroys the stream forgets its subscription afterwards, under this lock.
  if (!queue.IsLive()) return queue.FailGone(api);
  if (reports.by_stream.count(queue.stream) != 0) {
    return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, MessageClass::kAclReason,
                Text(api,
                     ": a thread is subscribed to the stream already, expected an "
                     "aclrtUnSubscribeReport before."));
  }
  try {
    Subscriber& subscriber = reports.by_thread[threadId];
    try {
      reports.by_stream.emplace(queue.stream, threadId);
    } catch (...) {
      reports.EraseIfUnused(threadId);
      throw;
    }
    ++subscriber.streams;
    return ACL_SUCCESS;
  } catch (...) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory."));
  }
}

aclError aclrtUnSubscribeReport(uint64_t threadId, aclrtStream stream) {
  const char* const api = "aclrtUnSubscribeReport";
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  LinkedList<DueCallback> dropped;
  {
    Reports& reports = TheReports();
    std::lock_guard lock(reports.mutex);
    Subscriber* of_thread = reports.OfThread(threadId);
    if (of_thread == nullptr || of_thread->streams == 0) {
      return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, MessageClass::kAclReason,
                  Text(api, ": parameter threadId has the value ", threadId,
                       ", which is no subscribed thread, expected an aclrtSubscribeReport before."));
    }
    if (!queue.IsLive()) return queue.FailGone(api);
    if (reports.OfStream(queue.stream) != of_thread) {
      return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, MessageClass::kAclReason,
                  Text(api,
                       ": the thread is not subscribed to this stream, expected an "
                       "aclrtSubscribeReport before."));
    }
    // Drops unprocessed callbacks of the stream from the thread's queue.
    while (DueCallback* task =
               of_thread->due.PopIf([&](const DueCallback& one) { return one.stream == queue.stream; })) {
      dropped.Append(task);
    }
    reports.End(queue.stream);
  }
  if (!dropped.empty()) {
    queue.stream->IfStill(queue.handle, [&] { queue.stream->NoteFailureLocked(kNobodySubscribed); });
  }
  while (DueCallback* task = dropped.Pop()) task->Drop();
  return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  const profile::Call profiled("aclrtLaunchCallback");
  const char* const api = "aclrtLaunchCallback";
  if (fn == nullptr) return FailNullPointer(api, "fn", "a function");
  if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter blockType has the value ", static_cast<int>(blockType),
                     ", accepted: 0 (ACL_CALLBACK_NO_BLOCK) and 1 (ACL_CALLBACK_BLOCK)."));
  }
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  if (IsUnrecordable(api, queue, &status)) return status;
  {
    Reports& reports = TheReports();
    std::lock_guard lock(reports.mutex);
    if (reports.OfStream(queue.stream) == nullptr) {
      return Fail(ACL_ERROR_RT_STREAM_NO_CB_REG, MessageClass::kAclReason,
                  Text(api,
                       ": no thread is subscribed to the stream, expected an aclrtSubscribeReport "
                       "before."));
    }
  }
  CallbackTask* task = CallbackTask::New(fn, userData, blockType == ACL_CALLBACK_BLOCK);
  if (task == nullptr) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory to queue the work."));
  }
  if (sanitizer::IsOn(sanitizer::kSync)) {
    sanitizer::hooks->Queue(task, api, NameForChecks(*queue.stream, queue.handle), {},
                            sanitizer::Waits::kForAnything);
    sanitizer::hooks->WantAll();
  }
  return queue.SubmitFor(api, task);
}

aclError aclrtProcessReport(int32_t timeout) {
  const profile::Call profiled("aclrtProcessReport");
  const char* const api = "aclrtProcessReport";
  if (timeout == 0 || timeout < -1) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter timeout has the value ", timeout,
                     ", accepted: milliseconds from 1 on, or -1 to wait for ever."));
  }
  const Deadline deadline = DeadlineIn(timeout);
  DueCallback* task = nullptr;
  {
    Reports& reports = TheReports();
    std::unique_lock lock(reports.mutex);
    uint64_t thread = 0;
    Subscriber* subscriber = reports.OfCallingThread(&thread);
    if (subscriber != nullptr) {
      const Inside inside(reports, thread, *subscriber);
      const auto enough = [&] { return !subscriber->due.empty() || subscriber->streams == 0; };
      bool in_time = true;
      if (deadline == kForever) {
        subscriber->posted.wait(lock, enough);  // cancellable: no work is in progress
      } else {
        in_time = subscriber->posted.wait_until(lock, deadline, enough);  // cancellable: as above
      }
      task = subscriber->due.Pop();
      if (!in_time) {
        return Fail(ACL_ERROR_RT_REPORT_TIMEOUT, MessageClass::kAclInner,
                    Text(api, ": the timeout ended before a callback was due."));
      }
    }
  }
  if (task == nullptr) {
    return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, MessageClass::kAclReason,
                Text(api,
                     ": this thread is not subscribed to any stream (any more), expected an "
                     "aclrtSubscribeReport for it before."));
  }
  task->Process();
  return ACL_SUCCESS;
}
