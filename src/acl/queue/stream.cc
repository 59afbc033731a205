// Streams: their queues, their lives, and the threads that run them (see stream.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/queue/stream.h"

#include <cstring>

#include <algorithm>
#include <memory>
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/queue/subscriptions.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {

namespace {

HandleTable<Stream, 0x53> streams;
std::atomic<int32_t> last_id{0};

thread_local HostFunctionScope* innermost = nullptr;

// Tells whether a thread that submits to a full queue may wait for room. A thread inside a function of the program,
// or one that is subscribed to callbacks, may not: streams may be waiting for that thread.
bool MayWaitForRoom() noexcept { return !HostFunctionScope::IsInside() && !IsSubscribed(); }

// Tells whether queued work is held until somebody waits for it, which detects a missing wait.
bool IsHeldBack(Stream::Wait wait) noexcept {
  return wait == Stream::Wait::kNo && sanitizer::IsOn(sanitizer::kSync);
}

// Tell the checks of a task's begin and end. Without inlining, the path of every task stays short enough to
// be compiled into one function.
[[gnu::cold, gnu::noinline]] void TellOfBegin(const Task* task) noexcept { sanitizer::hooks->Begin(task); }
[[gnu::cold, gnu::noinline]] void TellOfEnd(const Task* task) noexcept { sanitizer::hooks->End(task); }

void EndCheck(const Task* task) noexcept {
  if (sanitizer::IsOn(sanitizer::kSync)) TellOfEnd(task);
}

void ResumeAll(StreamList& list) noexcept {
  while (Stream* stream = list.Pop()) stream->Resume();
}

aclError FailTimeout(const char* api, const char* what) noexcept {
  return Fail(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, MessageClass::kAclInner,
              Text(api, ": the timeout ended before the work of the ", what, " did."));
}

aclError ReportFailure(const char* api, const Stream::Failure& failure) noexcept {
  if (failure.status == ACL_SUCCESS) return ACL_SUCCESS;
  return Fail(failure.status, MessageClass::kAclInner,
              Text(api, ": work that was queued in the stream failed: ", failure.text, failure.more));
}

// Waits for all work submitted to the streams for which wanted(stream) holds. Notes each stream's amount of
// work before the first wait, so that later work is not waited for. Streams that do not fit the memory are
// noted when their turn comes.
template <class Wanted>
bool SynchronizeAll(Wanted wanted, Deadline deadline, Stream::Failure* failure) noexcept {
  struct Noted {
    Stream* stream;
    aclrtStream handle;
    uint64_t mark;
  };
  constexpr size_t kHere = 64;
  Noted here[kHere];
  const size_t slots = streams.Size();
  const std::unique_ptr<Noted[]> many(slots > kHere ? new (std::nothrow) Noted[slots] : nullptr);
  Noted* const noted = many != nullptr ? many.get() : here;
  const size_t room = many != nullptr ? slots : kHere;
  size_t count = 0;
  bool all = true;
  streams.ForEachLive([&](void* handle, Stream& stream) {
    uint64_t mark = 0;
    if (stream.IsQuiescent() || !wanted(stream) || !stream.Mark(handle, &mark)) return;
    if (count < room) {
      noted[count++] = {&stream, handle, mark};
    } else {
      all = false;
    }
  });
  bool in_time = true;
  for (size_t i = 0; i < count && in_time; ++i) {
    in_time = noted[i].stream->Synchronize(noted[i].handle, noted[i].mark, deadline, failure);
  }
  if (all) return in_time;
  streams.ForEachLive([&](void* handle, Stream& stream) {
    if (in_time && wanted(stream)) in_time = stream.Synchronize(handle, deadline, failure);
  });
  return in_time;
}

void AfterFork() {
  streams.ForEachSlot([](Stream& stream) { stream.AfterFork(streams.IsLive(&stream)); });
  HostFunctionScope::AfterFork();
}

}  // namespace

HostFunctionScope::HostFunctionScope(Stream* held) noexcept : held_(held), outer_(innermost) {
  innermost = this;
}
HostFunctionScope::~HostFunctionScope() { innermost = outer_; }

bool HostFunctionScope::IsInside() noexcept { return innermost != nullptr; }

bool HostFunctionScope::Holds(const Stream& stream) noexcept {
  for (const HostFunctionScope* one = innermost; one != nullptr; one = one->outer_) {
    if (one->held_ == &stream) return true;
  }
  return false;
}

bool HostFunctionScope::HoldsOneOf(aclrtContext context) noexcept {
  for (const HostFunctionScope* one = innermost; one != nullptr; one = one->outer_) {
    if (one->held_ != nullptr && one->held_->context() == context) return true;
  }
  return false;
}

bool HostFunctionScope::HoldsOneOfDevice(int32_t device) noexcept {
  for (const HostFunctionScope* one = innermost; one != nullptr; one = one->outer_) {
    if (one->held_ != nullptr && one->held_->device() == device) return true;
  }
  return false;
}

void HostFunctionScope::AfterFork() noexcept {
  for (HostFunctionScope* one = innermost; one != nullptr; one = one->outer_) one->held_ = nullptr;
}

void Stream::Open(aclrtStream handle, aclrtContext context, int32_t device, bool is_default,
                  uint32_t priority, uint32_t flags) noexcept {
  std::lock_guard lock(mutex_);
  handle_ = handle;
  context_.store(context, std::memory_order_relaxed);
  device_.store(device, std::memory_order_relaxed);
  is_default_.store(is_default, std::memory_order_relaxed);
  priority_.store(priority, std::memory_order_relaxed);
  flags_.store(flags, std::memory_order_relaxed);
  limits.Forget();
  user_tag.store(0, std::memory_order_relaxed);
  caches_operator_info.store(0, std::memory_order_relaxed);
  drop_through_ = 0;
  stops_on_failure_ = false;
  id_.store(last_id.fetch_add(1, std::memory_order_relaxed), std::memory_order_relaxed);
}

void Stream::Close(bool by_force) noexcept {
  const CancellationDeferred deferred;
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->WantAll();
  std::unique_lock lock(mutex_);
  handle_ = nullptr;
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
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->HostWaited(this);
  ForgetSubscription(this);
  lock.lock();
  context_.store(nullptr, std::memory_order_relaxed);
  counted_.notify_all();
}

void Stream::AwaitClosed(aclrtContext context) noexcept {
  const CancellationDeferred deferred;
  std::unique_lock lock(mutex_);
  while (context_ == context) counted_.wait(lock);
}

Stream::Submission Stream::Submit(aclrtStream handle, Task* task, Wait wait) noexcept {
  const Submission submission = Queue(handle, task, wait);
  if (wait != Wait::kNo && sanitizer::IsOn(sanitizer::kSync) && !HostFunctionScope::Holds(*this))
    sanitizer::hooks->HostWaited(this);
  return submission;
}

Stream::Submission Stream::Queue(aclrtStream handle, Task* task, Wait wait) noexcept {
  std::unique_lock lock(mutex_);
  Submission submission = Submission::kQueued;
  if (wait != Wait::kNo && HostFunctionScope::Holds(*this)) {
    if (wait == Wait::kUntilDone) submission = Submission::kWaitsForSelf;
    wait = Wait::kNo;
  }
  if (submitted_ - done_ >= kMostTasks && handle_ == handle && MayWaitForRoom()) {
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->WantAll();
    WaitLocked(lock, submitted_ - kMostTasks + 1, kForever);
  }
  // Tests the handle immediately before queueing: a thread that destroys the stream either waits for the
  // task, or comes first.
  if (handle_ != handle) submission = Submission::kGone;
  if (submission != Submission::kQueued) [[unlikely]] {
    StreamList nobody;
    EndCheck(task);
    task->Finish(nobody);
    return submission;
  }
  const uint64_t ticket = ++submitted_;
  is_quiescent_.store(false, std::memory_order_relaxed);
  task->next_ = nullptr;
  if (profile::IsOn()) profile::TaskQueued(task, device(), id());
  task->Publish();
  if (state_ == State::kIdle && DropsLocked()) {
    StreamList can_go_on;
    FinishLocked(task, can_go_on);
    lock.unlock();
    ResumeAll(can_go_on);
    return Submission::kQueued;
  }
  const bool may_run_here = task->affinity == Task::Affinity::kAnywhere ||
                            (wait != Wait::kNo && task->affinity == Task::Affinity::kWorker);
  if (state_ == State::kIdle && may_run_here && !IsHeldBack(wait)) {
    state_ = State::kRunning;
    current_ = task;
    lock.unlock();
    RunFrom(task, RunLimit::kOneTask, 0);
    return Submission::kQueued;
  }
  (last_ == nullptr ? first_ : last_->next_) = task;
  last_ = task;
  if (state_ == State::kIdle) {
    state_ = State::kReady;
    needs_worker_ = task->affinity == Task::Affinity::kReservedWorker;
    if (IsHeldBack(wait) && !needs_worker_) sanitizer::hooks->Hold(this);
    lock.unlock();
    workers::Ready(this);
    if (wait == Wait::kNo) return Submission::kQueued;
    lock.lock();
  }
  if (wait != Wait::kNo) {
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->Want(this);
    WaitLocked(lock, ticket, kForever);
  }
  return Submission::kQueued;
}

// Runs the current task and the tasks after it, as far as `limit` allows and until `mark` tasks are done.
PORTACL_CATCHES_UNWINDING void Stream::RunFrom(Task* task, RunLimit limit, uint64_t mark) {
  while (task != nullptr) {
    Task::Outcome outcome = Task::Outcome::kDone;
    if (sanitizer::IsOn(sanitizer::kSync)) TellOfBegin(task);
    if (profile::IsOn()) profile::TaskBegins(task);
    try {
      outcome = task->Run(*this);
    } catch (const ThreadUnwinding&) {
      EndTask(task);
      throw;
    }
    StreamList can_go_on;
    std::unique_lock lock(mutex_);
    // The task has forked this process: the stream is the child's own copy, which does not have that task.
    if (current_ != task) return;
    if (outcome == Task::Outcome::kParked && !resumed_early_) {
      state_ = State::kParked;
      if (limit == RunLimit::kEverything) workers::Returning();
      return;
    }
    resumed_early_ = false;
    FinishLocked(task, can_go_on);
    task = NextLocked(limit, mark, can_go_on);
    const bool handed_over = state_ == State::kReady;
    lock.unlock();
    ResumeAll(can_go_on);
    if (handed_over) workers::Ready(this);
  }
}

void Stream::RunReady(RunLimit limit, uint64_t mark) {
  if (limit == RunLimit::kEverything && sanitizer::IsOn(sanitizer::kSync))
    sanitizer::hooks->AwaitWanted(this);
  StreamList can_go_on;
  std::unique_lock lock(mutex_);
  Task* task = NextLocked(limit, mark, can_go_on);
  const bool handed_over = state_ == State::kReady;
  lock.unlock();
  ResumeAll(can_go_on);
  if (handed_over) workers::Ready(this);
  RunFrom(task, limit, mark);
}

// Ends the current task on a thread that will not continue the stream.
void Stream::EndTask(Task* task) noexcept {
  StreamList can_go_on;
  std::unique_lock lock(mutex_);
  if (current_ != task) return;  // as in RunFrom
  FinishLocked(task, can_go_on);
  NextLocked(RunLimit::kOneTask, 0, can_go_on);
  const bool handed_over = state_ == State::kReady;
  lock.unlock();
  ResumeAll(can_go_on);
  if (handed_over) workers::Ready(this);
}

void Stream::Resume() noexcept {
  std::unique_lock lock(mutex_);
  ResumeLocked(lock);
}

void Stream::ResumeFrom(const Task* task) noexcept {
  std::unique_lock lock(mutex_);
  if (current_ == task) ResumeLocked(lock);
}

void Stream::ResumeLocked(std::unique_lock<std::mutex>& lock) noexcept {
  if (state_ != State::kParked) {
    resumed_early_ = true;
    return;
  }
  StreamList can_go_on;
  FinishLocked(current_, can_go_on);
  NextLocked(RunLimit::kOneTask, 0, can_go_on);
  const bool handed_over = state_ == State::kReady;
  lock.unlock();
  ResumeAll(can_go_on);
  if (handed_over) workers::Ready(this);
}

// Selects the next task after one has ended. Returns the task, which becomes the current one, or nullptr: the
// stream is idle, or it is ready for another thread, because `limit` ends here or the mark is passed.
Task* Stream::NextLocked(RunLimit limit, uint64_t mark, StreamList& can_go_on) noexcept {
  current_ = nullptr;
  while (first_ != nullptr && DropsLocked()) {
    Task* const dropped = first_;
    first_ = dropped->next_;
    FinishLocked(dropped, can_go_on);
  }
  if (first_ == nullptr) {
    last_ = nullptr;
    state_ = State::kIdle;
    is_quiescent_.store(failure_.status == ACL_SUCCESS, std::memory_order_release);
    if (wake_at_ != kNobody) counted_.notify_all();
    wake_at_ = kNobody;
    if (limit == RunLimit::kEverything) workers::Returning();
    return nullptr;
  }
  needs_worker_ = first_->affinity == Task::Affinity::kReservedWorker;
  if (limit == RunLimit::kOneTask || done_ >= mark ||
      (limit == RunLimit::kNoHostFunctions && needs_worker_)) {
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
  EndCheck(task);
  if (profile::IsOn()) profile::TaskEnds(task);
  task->Finish(can_go_on);
  if (++done_ >= wake_at_) {
    wake_at_ = kNobody;
    counted_.notify_all();
  }
}

bool Stream::WaitLocked(std::unique_lock<std::mutex>& lock, uint64_t ticket, Deadline deadline) noexcept {
  const CancellationDeferred deferred;
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

bool Stream::Mark(aclrtStream handle, uint64_t* mark) noexcept {
  if (IsQuiescent()) return false;
  std::lock_guard lock(mutex_);
  *mark = submitted_;
  return handle_ == handle;
}

bool Stream::Synchronize(aclrtStream handle, uint64_t mark, Deadline deadline, Failure* failure) noexcept {
  if (IsQuiescent()) return true;
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->Want(this);
  std::unique_lock lock(mutex_);
  if (handle_ != handle) return true;
  mark = std::min(mark, submitted_);
  // Runs work that no worker has begun here, which is faster than waking a worker and waiting for it.
  if (state_ == State::kReady && !needs_worker_ && done_ < mark && deadline == kForever) {
    lock.unlock();
    if (workers::TryDequeue(this)) RunReady(RunLimit::kNoHostFunctions, mark);
    lock.lock();
  }
  if (!WaitLocked(lock, mark, deadline)) return false;
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->HostWaited(this);
  if (failure->status == ACL_SUCCESS && handle_ == handle) {
    *failure = failure_;
    if (!stops_on_failure_) failure_ = Failure();
  }
  return true;
}

Stream::Failure::Failure(aclError code, const Text& made) noexcept : status(code) {
  const std::string_view part = made.view().substr(0, sizeof more - 1);
  std::memcpy(more, part.data(), part.size());
}

void Stream::NoteFailure(Failure failure) noexcept {
  std::lock_guard lock(mutex_);
  NoteFailureLocked(failure);
}

void Stream::NoteFailureLocked(Failure failure) noexcept {
  if (failure_.status != ACL_SUCCESS) return;
  failure_ = failure;
  is_quiescent_.store(false, std::memory_order_relaxed);
}

bool Stream::Abort(aclrtStream handle, Failure failure, Deadline deadline) noexcept {
  std::unique_lock lock(mutex_);
  if (handle_ != handle) return true;
  const uint64_t last = submitted_;
  drop_through_ = last;
  const bool interrupted = current_ != nullptr && current_->Interrupt(*this);
  if ((first_ != nullptr || interrupted) && failure_.status == ACL_SUCCESS) failure_ = failure;
  lock.unlock();
  if (interrupted) Resume();
  if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->WantAll();
  lock.lock();
  return WaitLocked(lock, last, deadline);
}

void Stream::AfterFork(bool is_live) noexcept {
  // Another thread may have held the lock and will never release it here.
  new (&mutex_) std::mutex;
  new (&counted_) std::condition_variable;
  if (!is_live) {  // nobody is about to close it here
    handle_ = nullptr;
    context_.store(nullptr, std::memory_order_relaxed);
  }
  if (state_ != State::kIdle || done_ != submitted_) {
    failure_ = {ACL_ERROR_RT_STREAM_NOT_COMPLETE,
                "it was not done when this process was forked, and only the parent goes on with it."};
  }
  is_quiescent_.store(false, std::memory_order_relaxed);
  done_ = submitted_;
  first_ = last_ = current_ = nullptr;
  ForgetNext();
  state_ = State::kIdle;
  resumed_early_ = false;
  wake_at_ = kNobody;
}

sanitizer::StreamName NameForChecks(const Stream& stream, aclrtStream handle) noexcept {
  return {&stream, handle, stream.id(), stream.is_default()};
}

Stream* LiveStream(aclrtStream handle) noexcept { return streams.Find(handle); }

aclError FailWaitsForSelf(const char* api) noexcept {
  return FailUnsupported(api,
                         "it was called by a host function or callback that the stream waits for, and would "
                         "itself wait for the stream, without end; accepted there: a time limit, or a "
                         "stream, context or device that does not wait for the function");
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
  stream->Open(streams.NextHandle(stream), context, device, is_default, priority, flags);
  return streams.Publish(stream);
}

bool DestroyStream(aclrtStream handle, bool by_force) noexcept {
  Stream* taken = streams.Take(handle);
  if (taken == nullptr) return false;
  if (sanitizer::IsOn(sanitizer::kHandles)) sanitizer::hooks->HandleGoes(handle);
  taken->Close(by_force);
  streams.Recycle(taken);
  return true;
}

void DestroyStreamsOf(aclrtContext context) noexcept {
  streams.ForEachLive([context](void* handle, Stream& stream) {
    if (stream.context() != context) return;
    DestroyStream(handle, false);
  });
  streams.ForEachSlot([context](Stream& stream) { stream.AwaitClosed(context); });
}

aclError SynchronizeStream(const char* api, Stream& stream, aclrtStream handle, Deadline deadline) noexcept {
  if (stream.IsQuiescent()) return ACL_SUCCESS;
  if (deadline == kForever && HostFunctionScope::Holds(stream)) return FailWaitsForSelf(api);
  Stream::Failure failure;
  if (!stream.Synchronize(handle, deadline, &failure)) return FailTimeout(api, "stream");
  return ReportFailure(api, failure);
}

aclError SynchronizeStreamsOf(const char* api, aclrtContext context, Deadline deadline) noexcept {
  if (deadline == kForever && HostFunctionScope::HoldsOneOf(context)) return FailWaitsForSelf(api);
  Stream::Failure first;
  const auto wanted = [context](const Stream& stream) { return stream.context() == context; };
  if (!SynchronizeAll(wanted, deadline, &first)) return FailTimeout(api, "device");
  return ReportFailure(api, first);
}

aclError SynchronizeStreamsOfDevice(const char* api, int32_t device) noexcept {
  Stream::Failure first;
  SynchronizeAll([device](const Stream& stream) { return stream.device() == device; }, kForever, &first);
  return ReportFailure(api, first);
}

aclError AbortStreamsOfDevice(const char* api, int32_t device, Deadline deadline) noexcept {
  if (deadline == kForever && HostFunctionScope::HoldsOneOfDevice(device)) return FailWaitsForSelf(api);
  bool in_time = true;
  streams.ForEachLive([&](void* handle, Stream& stream) {
    if (stream.device() != device) return;
    if (!stream.Abort(handle, {ACL_ERROR_RT_DEVICE_TASK_ABORT, "it was dropped by aclrtDeviceTaskAbort."},
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
