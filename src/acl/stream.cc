// Streams and the functions of acl_rt.h on them (see stream.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/stream.h"

#include <algorithm>
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/callback.h"
#include "acl/device.h"
#include "acl/errors.h"
#include "acl/fork.h"
#include "acl/handle_table.h"
#include "acl/workers.h"

namespace portacl {

void StreamList::Append(Stream* stream) noexcept {
  stream->next_ = nullptr;
  (last_ == nullptr ? first_ : last_->next_) = stream;
  last_ = stream;
}

void StreamList::Append(StreamList& others) noexcept {
  if (others.empty()) return;
  (last_ == nullptr ? first_ : last_->next_) = others.first_;
  last_ = others.last_;
  others = StreamList();
}

namespace {

HandleTable<Stream, 0x53> streams;
std::atomic<int32_t> last_id{0};

constexpr uint32_t kHintFlags = ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC | ACL_STREAM_HUGE;
constexpr uint32_t kDeviceFlags =
    ACL_STREAM_PERSISTENT | ACL_STREAM_CPU_SCHEDULE | ACL_STREAM_DEVICE_USE_ONLY;

void ResumeAll(StreamList& list) noexcept {
  while (Stream* stream = list.Pop()) stream->Resume();
}

aclError FailUnknownStream(const char* api, aclrtStream stream) noexcept {
  return Fail(ACL_ERROR_RT_STREAM_CONTEXT, MessageClass::kRuntimeContext,
              Text(api, ": parameter stream has the value ", static_cast<const void*>(stream),
                   ", which is no stream of the current context. Accepted: a stream made by "
                   "aclrtCreateStream and not yet destroyed, "
                   "or a null pointer for the default stream."));
}

aclError FailTimeout(const char* api, const char* what) noexcept {
  return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, MessageClass::kAclInner,
              Text(api, ": the timeout ended before the work of the ", what, " did."));
}

aclError ReportFailure(const char* api, const Stream::Failure& failure) noexcept {
  if (failure.status == ACL_SUCCESS) return ACL_SUCCESS;
  return Fail(failure.status, MessageClass::kAclInner,
              Text(api, ": work that was queued in the stream failed: ", failure.text));
}

aclError Synchronize(const char* api, aclrtStream handle, Deadline deadline) noexcept {
  aclError status = ACL_SUCCESS;
  Stream* stream = FindStreamFor(api, handle, &status);
  if (stream == nullptr) return status;
  Stream::Failure failure;
  if (!stream->Synchronize(deadline, &failure)) return FailTimeout(api, "stream");
  return ReportFailure(api, failure);
}

aclError Create(const char* api, aclrtStream* stream, uint32_t priority, uint32_t flags) noexcept {
  if (stream == nullptr) return FailNullPointer(api, "stream", "the address of an aclrtStream");
  if (priority > kLeastPriority) {
    return Fail(
        ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
        Text(api, ": parameter priority has the value ", priority, ", accepted: 0 to ", kLeastPriority, "."));
  }
  if ((flags & ~(kHintFlags | kDeviceFlags)) != 0) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text(api, ": parameter flag has the value ", flags,
                     ", accepted: any combination of the ACL_STREAM_ flags."));
  }
  if ((flags & kDeviceFlags) != 0) {
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, MessageClass::kAclUnsupported,
                Text(api, ": parameter flag has the value ", flags,
                     ", which asks for a stream that a device or a captured model drives; not supported. "
                     "Accepted: ACL_STREAM_FAST_LAUNCH, ACL_STREAM_FAST_SYNC, ACL_STREAM_HUGE."));
  }
  aclrtContext handle = nullptr;
  const Context* context = CurrentContext(&handle);
  if (context == nullptr) return FailNoDevice(api);
  const aclrtStream created = CreateStream(handle, context->device, false, priority, flags);
  if (created == nullptr) {
    return Fail(ACL_ERROR_RT_NO_STREAM_RESOURCE, MessageClass::kAclInner,
                Text(api, ": no memory or no slot for another stream."));
  }
  *stream = created;
  return ACL_SUCCESS;
}

aclError Destroy(const char* api, aclrtStream handle, bool by_force) noexcept {
  if (handle == nullptr) return FailNullPointer(api, "stream", "a stream made by aclrtCreateStream");
  aclrtContext current = nullptr;
  if (CurrentContext(&current) == nullptr) return FailNoDevice(api);
  const Stream* found = streams.Find(handle);
  if (found == nullptr || found->context() != current || found->is_default()) {
    return FailUnknownStream(api, handle);
  }
  Stream* taken = streams.Take(handle);
  if (taken == nullptr) return FailUnknownStream(api, handle);
  taken->Close(by_force);
  streams.Recycle(taken);
  return ACL_SUCCESS;
}

void AfterFork() {
  streams.ForEachSlot([](Stream& stream) { stream.AfterFork(); });
}

}  // namespace

void Stream::Open(aclrtContext context, int32_t device, bool is_default, uint32_t priority,
                  uint32_t flags) noexcept {
  std::lock_guard lock(mutex_);
  context_.store(context, std::memory_order_relaxed);
  device_.store(device, std::memory_order_relaxed);
  is_default_.store(is_default, std::memory_order_relaxed);
  priority_.store(priority, std::memory_order_relaxed);
  flags_.store(flags, std::memory_order_relaxed);
  limits.Forget();
  user_tag.store(0, std::memory_order_relaxed);
  drop_through_ = 0;
  stops_on_failure_ = false;
  id_.store(last_id.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
}

void Stream::Close(bool by_force) noexcept {
  std::unique_lock lock(mutex_);
  if (by_force) {
    StreamList can_go_on;
    Task* task = first_;
    first_ = last_ = nullptr;
    while (task != nullptr) {
      Task* const next = task->next_;
      FinishLocked(task, can_go_on);
      task = next;
    }
    const bool interrupted = current_ != nullptr && current_->Interrupt(*this);
    lock.unlock();
    ResumeAll(can_go_on);
    if (interrupted) Resume();
    lock.lock();
  }
  while (state_ != State::kIdle || done_ != submitted_) {
    wake_at_ = std::min(wake_at_, submitted_);
    counted_.wait(lock);
  }
  failure_ = Failure();
  lock.unlock();
  ForgetSubscription(this);
}

void Stream::Submit(Task* task, Wait wait) noexcept {
  std::unique_lock lock(mutex_);
  // A host function that submits to its own stream must not wait for itself.
  if (submitted_ - done_ >= kMostTasks && !workers::OnWorker()) {
    WaitLocked(lock, submitted_ - kMostTasks + 1, kForever);
  }
  const uint64_t ticket = ++submitted_;
  has_nothing_to_say_.store(false, std::memory_order_relaxed);
  task->next_ = nullptr;
  if (state_ == State::kIdle && DropsLocked()) {
    StreamList can_go_on;
    FinishLocked(task, can_go_on);
    lock.unlock();
    ResumeAll(can_go_on);
    return;
  }
  const bool may_run_here = task->place == Task::Place::kAnywhere ||
                            (wait == Wait::kUntilDone && task->place == Task::Place::kWorker);
  if (state_ == State::kIdle && may_run_here) {
    state_ = State::kRunning;
    current_ = task;
    lock.unlock();
    RunFrom(task, Reach::kOneTask);
    return;
  }
  (last_ == nullptr ? first_ : last_->next_) = task;
  last_ = task;
  if (state_ == State::kIdle) {
    state_ = State::kReady;
    needs_worker_ = task->place == Task::Place::kReservedWorker;
    lock.unlock();
    workers::Ready(this);
    if (wait == Wait::kNo) return;
    lock.lock();
  }
  if (wait == Wait::kUntilDone) WaitLocked(lock, ticket, kForever);
}

// Runs the current task and what follows it, as far as `reach` goes.
void Stream::RunFrom(Task* task, Reach reach) noexcept {
  while (task != nullptr) {
    const Task::Outcome outcome = task->Run(*this);
    StreamList can_go_on;
    std::unique_lock lock(mutex_);
    if (outcome == Task::Outcome::kParked && !resumed_early_) {
      state_ = State::kParked;
      if (reach == Reach::kEverything) workers::Returning();
      return;
    }
    resumed_early_ = false;
    FinishLocked(task, can_go_on);
    task = NextLocked(reach, can_go_on);
    const bool handed_over = state_ == State::kReady;
    lock.unlock();
    ResumeAll(can_go_on);
    if (handed_over) workers::Ready(this);
  }
}

void Stream::RunReady(Reach reach) noexcept {
  StreamList can_go_on;
  std::unique_lock lock(mutex_);
  Task* task = NextLocked(reach, can_go_on);
  const bool handed_over = state_ == State::kReady;
  lock.unlock();
  ResumeAll(can_go_on);
  if (handed_over) workers::Ready(this);
  RunFrom(task, reach);
}

void Stream::Resume() noexcept {
  StreamList can_go_on;
  std::unique_lock lock(mutex_);
  if (state_ != State::kParked) {
    resumed_early_ = true;
    return;
  }
  FinishLocked(current_, can_go_on);
  NextLocked(Reach::kOneTask, can_go_on);
  const bool handed_over = state_ == State::kReady;
  lock.unlock();
  ResumeAll(can_go_on);
  if (handed_over) workers::Ready(this);
}

// What the thread that runs the stream does after a task: the next one, which is then the current one, or
// nullptr: the stream is idle, or ready for another thread because `reach` ends here.
Task* Stream::NextLocked(Reach reach, StreamList& can_go_on) noexcept {
  current_ = nullptr;
  while (first_ != nullptr && DropsLocked()) {
    Task* const dropped = first_;
    first_ = dropped->next_;
    FinishLocked(dropped, can_go_on);
  }
  if (first_ == nullptr) {
    last_ = nullptr;
    state_ = State::kIdle;
    has_nothing_to_say_.store(failure_.status == ACL_SUCCESS, std::memory_order_release);
    if (wake_at_ != kNobody) counted_.notify_all();
    wake_at_ = kNobody;
    if (reach == Reach::kEverything) workers::Returning();
    return nullptr;
  }
  needs_worker_ = first_->place == Task::Place::kReservedWorker;
  if (reach == Reach::kOneTask || (reach == Reach::kNoUserCode && needs_worker_)) {
    state_ = State::kReady;
    return nullptr;
  }
  state_ = State::kRunning;
  current_ = first_;
  first_ = current_->next_;
  if (first_ == nullptr) last_ = nullptr;
  return current_;
}

void Stream::FinishLocked(Task* task, StreamList& can_go_on) noexcept {
  task->Finish(can_go_on);
  if (++done_ >= wake_at_) {
    wake_at_ = kNobody;
    counted_.notify_all();
  }
}

bool Stream::WaitLocked(std::unique_lock<std::mutex>& lock, uint64_t ticket, Deadline deadline) noexcept {
  while (done_ < ticket) {
    wake_at_ = std::min(wake_at_, ticket);
    if (deadline == kForever) {
      counted_.wait(lock);
    } else if (counted_.wait_until(lock, deadline) == std::cv_status::timeout) {
      return done_ >= ticket;
    }
  }
  return true;
}

bool Stream::Synchronize(Deadline deadline, Failure* failure) noexcept {
  return SynchronizeIn(context(), deadline, failure);
}

bool Stream::SynchronizeIn(aclrtContext context, Deadline deadline, Failure* failure) noexcept {
  if (has_nothing_to_say_.load(std::memory_order_acquire)) return true;
  std::unique_lock lock(mutex_);
  if (context_ != context) return true;
  // Work that no worker has begun with is done sooner here than by waking one and waiting for it.
  if (state_ == State::kReady && !needs_worker_ && deadline == kForever) {
    lock.unlock();
    if (workers::TakeBack(this)) RunReady(Reach::kNoUserCode);
    lock.lock();
  }
  if (!WaitLocked(lock, submitted_, deadline)) return false;
  if (failure->status == ACL_SUCCESS && context_ == context) {
    *failure = failure_;
    if (!stops_on_failure_) failure_ = Failure();
  }
  return true;
}

bool Stream::IsComplete() noexcept {
  std::lock_guard lock(mutex_);
  return done_ == submitted_;
}

void Stream::NoteFailure(Failure failure) noexcept {
  std::lock_guard lock(mutex_);
  if (failure_.status != ACL_SUCCESS) return;
  failure_ = failure;
  has_nothing_to_say_.store(false, std::memory_order_relaxed);
}

void Stream::SetStopsOnFailure(bool stops) noexcept {
  std::lock_guard lock(mutex_);
  stops_on_failure_ = stops;
}

bool Stream::StopsOnFailure() noexcept {
  std::lock_guard lock(mutex_);
  return stops_on_failure_;
}

bool Stream::Abort(Failure failure, Deadline deadline) noexcept {
  std::unique_lock lock(mutex_);
  const uint64_t last = submitted_;
  drop_through_ = last;
  const bool interrupted = current_ != nullptr && current_->Interrupt(*this);
  if ((first_ != nullptr || interrupted) && failure_.status == ACL_SUCCESS) failure_ = failure;
  lock.unlock();
  if (interrupted) Resume();
  lock.lock();
  return WaitLocked(lock, last, deadline);
}

void Stream::AfterFork() noexcept {
  // Another thread may have held the lock and will never free it here.
  new (&mutex_) std::mutex;
  new (&counted_) std::condition_variable;
  if (state_ != State::kIdle || done_ != submitted_) {
    failure_ = {ACL_ERROR_RT_STREAM_NOT_COMPLETE,
                "it was not done when this process was forked, and only the parent goes on with it."};
  }
  has_nothing_to_say_.store(false, std::memory_order_relaxed);
  done_ = submitted_;
  first_ = last_ = current_ = nullptr;
  next_ = nullptr;
  state_ = State::kIdle;
  resumed_early_ = false;
  wake_at_ = kNobody;
}

Stream* FindStream(aclrtStream handle) noexcept {
  if (handle != nullptr) return streams.Find(handle);
  const Context* context = CurrentContext();
  return context == nullptr ? nullptr : streams.Find(context->default_stream);
}

Stream* FindStreamFor(const char* api, aclrtStream handle, aclError* status) noexcept {
  Stream* stream = FindStream(handle);
  if (stream == nullptr) *status = handle == nullptr ? FailNoDevice(api) : FailUnknownStream(api, handle);
  return stream;
}

aclError CheckTimeout(const char* api, int32_t timeout) noexcept {
  if (timeout >= -1) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
              Text(api, ": parameter timeout has the value ", timeout,
                   ", accepted: milliseconds from 0 on, or -1 to wait for ever."));
}

aclError FailNoThread(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, MessageClass::kAclInner,
              Text(api, ": no thread can be started for work that must not run on the calling one."));
}

aclrtStream CreateStream(aclrtContext context, int32_t device, bool is_default, uint32_t priority,
                         uint32_t flags) noexcept {
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  Stream* stream = streams.Acquire();
  if (stream == nullptr) return nullptr;
  stream->Open(context, device, is_default, priority, flags);
  return streams.Publish(stream);
}

void DestroyStreamsOf(aclrtContext context) noexcept {
  streams.ForEachLive([context](void* handle, Stream& stream) {
    if (stream.context() != context) return;
    Stream* taken = streams.Take(handle);
    if (taken == nullptr) return;
    taken->Close(false);
    streams.Recycle(taken);
  });
}

aclError SynchronizeStreamsOf(const char* api, aclrtContext context, Deadline deadline) noexcept {
  Stream::Failure first;
  bool in_time = true;
  streams.ForEachLive([&](void*, Stream& stream) {
    if (in_time) in_time = stream.SynchronizeIn(context, deadline, &first);
  });
  if (!in_time) return FailTimeout(api, "device");
  return ReportFailure(api, first);
}

aclError SynchronizeStreamsOfDevice(const char* api, int32_t device) noexcept {
  Stream::Failure first;
  streams.ForEachLive([&](void*, Stream& stream) {
    if (stream.device() == device) stream.SynchronizeIn(stream.context(), kForever, &first);
  });
  return ReportFailure(api, first);
}

aclError AbortStreamsOfDevice(const char* api, int32_t device, Deadline deadline) noexcept {
  bool in_time = true;
  streams.ForEachLive([&](void*, Stream& stream) {
    if (stream.device() != device) return;
    if (!stream.Abort({ACL_ERROR_RT_DEVICE_TASK_ABORT, "it was dropped by aclrtDeviceTaskAbort."},
                      deadline)) {
      in_time = false;
    }
  });
  return in_time ? ACL_SUCCESS : FailTimeout(api, "device");
}

uint32_t StreamsLeft() noexcept {
  return decltype(streams)::Capacity() - static_cast<uint32_t>(LiveStreams());
}

int LiveStreams() noexcept {
  int count = 0;
  streams.ForEachLive([&count](void*, Stream&) { ++count; });
  return count;
}

}  // namespace portacl

using namespace portacl;

aclError aclrtCreateStream(aclrtStream* stream) { return Create("aclrtCreateStream", stream, 0, 0); }

aclError aclrtCreateStreamWithConfig(aclrtStream* stream, uint32_t priority, uint32_t flag) {
  return Create("aclrtCreateStreamWithConfig", stream, priority, flag);
}

aclError aclrtDestroyStream(aclrtStream stream) { return Destroy("aclrtDestroyStream", stream, false); }

aclError aclrtDestroyStreamForce(aclrtStream stream) {
  return Destroy("aclrtDestroyStreamForce", stream, true);
}

aclError aclrtSynchronizeStream(aclrtStream stream) {
  return Synchronize("aclrtSynchronizeStream", stream, kForever);
}

aclError aclrtSynchronizeStreamWithTimeout(aclrtStream stream, int32_t timeout) {
  if (aclError status = CheckTimeout("aclrtSynchronizeStreamWithTimeout", timeout)) return status;
  return Synchronize("aclrtSynchronizeStreamWithTimeout", stream, DeadlineIn(timeout));
}

aclError aclrtSynchronizeDevice(void) {
  aclrtContext context = nullptr;
  if (CurrentContext(&context) == nullptr) return FailNoDevice("aclrtSynchronizeDevice");
  return SynchronizeStreamsOf("aclrtSynchronizeDevice", context, kForever);
}

aclError aclrtSynchronizeDeviceWithTimeout(int32_t timeout) {
  if (aclError status = CheckTimeout("aclrtSynchronizeDeviceWithTimeout", timeout)) return status;
  aclrtContext context = nullptr;
  if (CurrentContext(&context) == nullptr) return FailNoDevice("aclrtSynchronizeDeviceWithTimeout");
  return SynchronizeStreamsOf("aclrtSynchronizeDeviceWithTimeout", context, DeadlineIn(timeout));
}

aclError aclrtStreamQuery(aclrtStream stream, aclrtStreamStatus* status) {
  if (status == nullptr) {
    return FailNullPointer("aclrtStreamQuery", "status", "the address of an aclrtStreamStatus");
  }
  aclError failure = ACL_SUCCESS;
  Stream* found = FindStreamFor("aclrtStreamQuery", stream, &failure);
  if (found == nullptr) return failure;
  *status = found->IsComplete() ? ACL_STREAM_STATUS_COMPLETE : ACL_STREAM_STATUS_NOT_READY;
  return ACL_SUCCESS;
}

aclError aclrtStreamGetId(aclrtStream stream, int32_t* streamId) {
  if (streamId == nullptr) {
    return FailNullPointer("aclrtStreamGetId", "streamId", "the address of an int32_t");
  }
  aclError failure = ACL_SUCCESS;
  const Stream* found = FindStreamFor("aclrtStreamGetId", stream, &failure);
  if (found == nullptr) return failure;
  *streamId = found->id();
  return ACL_SUCCESS;
}

aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority) {
  if (priority == nullptr) {
    return FailNullPointer("aclrtStreamGetPriority", "priority", "the address of a uint32_t");
  }
  aclError failure = ACL_SUCCESS;
  const Stream* found = FindStreamFor("aclrtStreamGetPriority", stream, &failure);
  if (found == nullptr) return failure;
  *priority = found->priority();
  return ACL_SUCCESS;
}

aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags) {
  if (flags == nullptr) {
    return FailNullPointer("aclrtStreamGetFlags", "flags", "the address of a uint32_t");
  }
  aclError failure = ACL_SUCCESS;
  const Stream* found = FindStreamFor("aclrtStreamGetFlags", stream, &failure);
  if (found == nullptr) return failure;
  *flags = found->flags();
  return ACL_SUCCESS;
}
