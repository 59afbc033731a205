// Host functions, report subscriptions and callbacks (see callback.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/callback.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <new>

#include "acl/acl_rt.h"
#include "acl/errors.h"
#include "acl/fork.h"
#include "acl/handle_table.h"
#include "acl/immortal.h"
#include "acl/stream.h"
#include "acl/workers.h"

namespace portacl {
namespace {

constexpr Stream::Failure kThrew{ACL_ERROR_RT_INTERNAL_ERROR,
                                 "a host function threw an exception; the stream went on."};
constexpr Stream::Failure kNobodySubscribed{
    ACL_ERROR_RT_STREAM_NO_CB_REG,
    "no thread was subscribed to the stream's callbacks (any more) when one was due; it was not called."};

class HostFunctionTask final : public Task {
 public:
  Outcome Run(Stream& stream) noexcept override {
    try {
      function_(argument_);
    } catch (...) {
      stream.NoteFailure(kThrew);
    }
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override;

  // Takes over one workers::Reserve. nullptr when memory is exhausted.
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
  task->place = Place::kReservedWorker;
  return task;
}

void HostFunctionTask::Finish(StreamList&) noexcept {
  workers::Unreserve();
  host_function_tasks.Recycle(this);
}

// Posts a callback to the thread that is subscribed to the stream; a blocking one parks the stream until that
// thread has processed it. Both the stream and the thread's queue refer to it.
class CallbackTask final : public Task {
 public:
  Outcome Run(Stream& of) noexcept override;
  bool Interrupt(Stream& of) noexcept override;
  void Finish(StreamList&) noexcept override { Unref(); }
  void Unref() noexcept;

  // What the subscribed thread does.
  void Process() noexcept;

  static CallbackTask* New(aclrtCallback function, void* argument, bool blocks) noexcept;

  Stream* stream = nullptr;      // whose queue it is in; only for a callback that blocks is it still there
  CallbackTask* next = nullptr;  // in the thread's queue
  bool blocks = false;
  bool dropped = false;  // guarded by the reports' mutex

 private:
  aclrtCallback function_ = nullptr;
  void* argument_ = nullptr;
  std::atomic<int> references_{0};
};

// A thread that is subscribed to the callbacks of one or more streams.
struct Subscriber {
  int streams = 0;
  int inside = 0;  // threads in aclrtProcessReport for it
  CallbackTask* first = nullptr;
  CallbackTask* last = nullptr;
  std::condition_variable posted;

  void Append(CallbackTask* task) noexcept {
    task->next = nullptr;
    (last == nullptr ? first : last->next) = task;
    last = task;
    posted.notify_one();
  }

  // Takes out the first for which wanted(task) holds; nullptr when there is none.
  template <class Wanted>
  CallbackTask* PopIf(Wanted wanted) noexcept {
    CallbackTask* before = nullptr;
    for (CallbackTask* one = first; one != nullptr; before = one, one = one->next) {
      if (!wanted(static_cast<const CallbackTask&>(*one))) continue;
      (before == nullptr ? first : before->next) = one->next;
      if (last == one) last = before;
      return one;
    }
    return nullptr;
  }
};

// Lock order: a stream's lock may be held when this one is taken, never the other way round.
struct Reports {
  std::mutex mutex;
  std::map<uint64_t, Subscriber> by_thread;
  std::map<const Stream*, uint64_t> by_stream;

  Subscriber* OfStream(const Stream* stream) noexcept {
    const auto thread = by_stream.find(stream);
    return thread == by_stream.end() ? nullptr : OfThread(thread->second);
  }
  Subscriber* OfThread(uint64_t thread) noexcept {
    const auto found = by_thread.find(thread);
    return found == by_thread.end() ? nullptr : &found->second;
  }
  void EraseIfUnused(uint64_t thread) noexcept {
    const auto found = by_thread.find(thread);
    if (found == by_thread.end()) return;
    const Subscriber& subscriber = found->second;
    if (subscriber.streams == 0 && subscriber.inside == 0 && subscriber.first == nullptr) {
      by_thread.erase(found);
    }
  }
};

void AfterFork();

Reports& TheReports() {
  static Immortal<Reports> reports;
  static const bool guarded =
      GuardAcrossFork(reports->mutex, ForkRank::kReports) && CallInForkedChild(AfterFork);
  (void)guarded;
  return *reports;
}

// The subscribed threads are gone, or are the forking one; what was posted belongs to the parent.
void AfterFork() {
  for (auto& [thread, subscriber] : TheReports().by_thread) {
    new (&subscriber.posted) std::condition_variable;
    subscriber.first = subscriber.last = nullptr;
    subscriber.inside = 0;
  }
}

HandleTable<CallbackTask, 0x42> callback_tasks;

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
  const bool parks = blocks;  // once posted, it may be processed and gone at any time
  {
    Reports& reports = TheReports();
    std::lock_guard lock(reports.mutex);
    if (dropped) return Outcome::kDone;
    if (Subscriber* subscriber = reports.OfStream(&of)) {
      stream = &of;
      references_.fetch_add(1, std::memory_order_relaxed);
      subscriber->Append(this);
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
  if (subscriber == nullptr ||
      subscriber->PopIf([this](const CallbackTask& one) { return &one == this; }) == nullptr) {
    return false;
  }
  Unref();
  return blocks;
}

void CallbackTask::Process() noexcept {
  Stream* const parked = blocks ? stream : nullptr;
  bool threw = false;
  try {
    function_(argument_);
  } catch (...) {
    threw = true;
  }
  if (parked != nullptr) {
    if (threw) parked->NoteFailure(kThrew);
    parked->Resume();
  }
  Unref();
}

// Ends a subscription; with `dropped`, takes the stream's callbacks that nobody processed yet out of the
// thread's queue.
void EndLocked(Reports& reports, const Stream* stream, CallbackTask** dropped) noexcept {
  const auto found = reports.by_stream.find(stream);
  const uint64_t thread = found->second;
  Subscriber* subscriber = reports.OfThread(thread);
  reports.by_stream.erase(found);
  --subscriber->streams;
  if (dropped != nullptr) {
    CallbackTask** end = dropped;
    while (CallbackTask* task =
               subscriber->PopIf([stream](const CallbackTask& one) { return one.stream == stream; })) {
      task->next = nullptr;
      *end = task;
      end = &task->next;
    }
  }
  subscriber->posted.notify_all();
  reports.EraseIfUnused(thread);
}

}  // namespace

void ForgetSubscription(Stream* stream) noexcept {
  Reports& reports = TheReports();
  std::lock_guard lock(reports.mutex);
  if (reports.by_stream.count(stream) != 0) EndLocked(reports, stream, nullptr);
}

}  // namespace portacl

using namespace portacl;

aclError aclrtLaunchHostFunc(aclrtStream stream, aclrtHostFunc fn, void* args) {
  const char* const api = "aclrtLaunchHostFunc";
  if (fn == nullptr) return FailNullPointer(api, "fn", "a function");
  aclError status = ACL_SUCCESS;
  Stream* queue = FindStreamFor(api, stream, &status);
  if (queue == nullptr) return status;
  if (!workers::Reserve()) return FailNoThread(api);
  HostFunctionTask* task = HostFunctionTask::New(fn, args);
  if (task == nullptr) {
    workers::Unreserve();
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory to queue the work."));
  }
  queue->Submit(task);
  return ACL_SUCCESS;
}

aclError aclrtSubscribeReport(uint64_t threadId, aclrtStream stream) {
  const char* const api = "aclrtSubscribeReport";
  aclError status = ACL_SUCCESS;
  Stream* queue = FindStreamFor(api, stream, &status);
  if (queue == nullptr) return status;
  Reports& reports = TheReports();
  std::lock_guard lock(reports.mutex);
  if (reports.by_stream.count(queue) != 0) {
    return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, MessageClass::kAclReason,
                Text(api,
                     ": a thread is subscribed to the stream already, expected an "
                     "aclrtUnSubscribeReport before."));
  }
  try {
    Subscriber& subscriber = reports.by_thread[threadId];
    try {
      reports.by_stream.emplace(queue, threadId);
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
  Stream* queue = FindStreamFor(api, stream, &status);
  if (queue == nullptr) return status;
  CallbackTask* dropped = nullptr;
  {
    Reports& reports = TheReports();
    std::lock_guard lock(reports.mutex);
    const Subscriber* of_thread = reports.OfThread(threadId);
    if (of_thread == nullptr || of_thread->streams == 0) {
      return Fail(ACL_ERROR_RT_THREAD_SUBSCRIBE, MessageClass::kAclReason,
                  Text(api, ": parameter threadId has the value ", threadId,
                       ", which is no subscribed thread, expected an aclrtSubscribeReport before."));
    }
    if (reports.OfStream(queue) != of_thread) {
      return Fail(ACL_ERROR_RT_STREAM_SUBSCRIBE, MessageClass::kAclReason,
                  Text(api,
                       ": the thread is not subscribed to this stream, expected an "
                       "aclrtSubscribeReport before."));
    }
    EndLocked(reports, queue, &dropped);
  }
  if (dropped != nullptr) queue->NoteFailure(kNobodySubscribed);
  while (dropped != nullptr) {
    CallbackTask* next = dropped->next;
    if (dropped->blocks) queue->Resume();
    dropped->Unref();
    dropped = next;
  }
  return ACL_SUCCESS;
}

aclError aclrtLaunchCallback(aclrtCallback fn, void* userData, aclrtCallbackBlockType blockType,
                             aclrtStream stream) {
  const char* const api = "aclrtLaunchCallback";
  if (fn == nullptr) return FailNullPointer(api, "fn", "a function");
  if (blockType != ACL_CALLBACK_NO_BLOCK && blockType != ACL_CALLBACK_BLOCK) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter blockType has the value ", static_cast<int>(blockType),
                     ", accepted: 0 (ACL_CALLBACK_NO_BLOCK) and 1 (ACL_CALLBACK_BLOCK)."));
  }
  aclError status = ACL_SUCCESS;
  Stream* queue = FindStreamFor(api, stream, &status);
  if (queue == nullptr) return status;
  {
    Reports& reports = TheReports();
    std::lock_guard lock(reports.mutex);
    if (reports.OfStream(queue) == nullptr) {
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
  queue->Submit(task);
  return ACL_SUCCESS;
}

aclError aclrtProcessReport(int32_t timeout) {
  const char* const api = "aclrtProcessReport";
  if (timeout == 0 || timeout < -1) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter timeout has the value ", timeout,
                     ", accepted: milliseconds from 1 on, or -1 to wait for ever."));
  }
  const Deadline deadline = DeadlineIn(timeout);
  CallbackTask* task = nullptr;
  {
    Reports& reports = TheReports();
    std::unique_lock lock(reports.mutex);
    // Programs name threads by pthread_self or by the kernel's number.
    auto thread = static_cast<uint64_t>(pthread_self());
    if (reports.OfThread(thread) == nullptr) thread = static_cast<uint64_t>(syscall(SYS_gettid));
    Subscriber* subscriber = reports.OfThread(thread);
    if (subscriber != nullptr) {
      ++subscriber->inside;
      const auto enough = [&] { return subscriber->first != nullptr || subscriber->streams == 0; };
      bool in_time = true;
      if (deadline == kForever) {
        subscriber->posted.wait(lock, enough);
      } else {
        in_time = subscriber->posted.wait_until(lock, deadline, enough);
      }
      --subscriber->inside;
      task = subscriber->PopIf([](const CallbackTask&) { return true; });
      reports.EraseIfUnused(thread);
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
