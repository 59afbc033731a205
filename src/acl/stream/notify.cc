// Notifies: a flag that one stream sets; another one waits for it and clears it.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/queue/stream.h"
#include "acl/queue/workers.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

// Tasks in streams refer to it, so that its slot outlives aclrtDestroyNotify.
class Notify {
 public:
  // Begins a life with one reference, which Close returns.
  void Open(aclrtNotify handle) noexcept {
    std::lock_guard lock(mutex_);
    handle_ = handle;
    references_.store(1, std::memory_order_relaxed);
    is_set_ = false;
    signal_ = sanitizer::IsOn(sanitizer::kSync) ? sanitizer::hooks->NewSignal() : nullptr;
    id_ = next_id.fetch_add(1, std::memory_order_relaxed);
  }
  void Close() noexcept {
    {
      std::lock_guard lock(mutex_);
      handle_ = nullptr;
    }
    Unref();
  }
  // Adds a reference; returns false if it is no longer the handle's, because another thread has destroyed it
  // since the look-up.
  bool RefIf(aclrtNotify handle) noexcept {
    std::lock_guard lock(mutex_);
    if (handle_ != handle) return false;
    references_.fetch_add(1, std::memory_order_relaxed);
    return true;
  }
  void Unref() noexcept;

  // For the checks of order.
  const sanitizer::SignalPointer& signal() const noexcept { return signal_; }

  uint32_t id() noexcept {
    std::lock_guard lock(mutex_);
    return id_;
  }

  // Sets the flag, or hands it to the stream that has waited longest.
  void Set(StreamList& can_go_on) noexcept {
    std::lock_guard lock(mutex_);
    if (Stream* stream = waiting_.Pop()) {
      can_go_on.Append(stream);
      return;
    }
    is_set_ = true;
    changed_.notify_all();
  }
  void ClearIf(aclrtNotify handle) noexcept {
    std::lock_guard lock(mutex_);
    if (handle_ == handle) is_set_ = false;
  }

  // Clears the flag and returns true, or adds the stream to those that later calls of Set resume in turn.
  bool TakeOrJoin(Stream& stream) noexcept {
    std::lock_guard lock(mutex_);
    if (is_set_) {
      is_set_ = false;
      return true;
    }
    waiting_.Append(&stream);
    return false;
  }
  // Removes the stream; returns false if it has been resumed already.
  bool Leave(const Stream& stream) noexcept {
    std::lock_guard lock(mutex_);
    return waiting_.Remove(&stream);
  }
  // Blocks the calling thread; returns true if it cleared the flag.
  bool TakeUntil(Deadline deadline, const std::atomic<bool>& given_up) noexcept {
    const CancellationDeferred deferred;
    std::unique_lock lock(mutex_);
    changed_.wait_until(lock, deadline, [&] { return is_set_ || given_up.load(); });
    if (!is_set_) return false;
    is_set_ = false;
    return true;
  }
  void WakeThreads() noexcept {
    std::lock_guard lock(mutex_);
    changed_.notify_all();
  }

  // In a forked child nobody waits any more.
  void AfterFork() noexcept {
    new (&mutex_) std::mutex;
    new (&changed_) std::condition_variable;
    waiting_ = StreamList();
  }

 private:
  inline static std::atomic<uint32_t> next_id{0};

  std::atomic<int> references_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  aclrtNotify handle_ = nullptr;  // null once it is destroyed
  bool is_set_ = false;
  uint32_t id_ = 0;
  sanitizer::SignalPointer signal_;
  StreamList waiting_;
};

HandleTable<Notify, 0x4E> notify_table;

void Notify::Unref() noexcept {
  if (references_.fetch_sub(1, std::memory_order_acq_rel) == 1) notify_table.Recycle(this);
}

class RecordTask final : public Task {
 public:
  void Publish() noexcept override { queued_ = true; }
  Outcome Run(Stream& stream) noexcept override {
    if (notify_->signal() != nullptr) sanitizer::hooks->Raise(notify_->signal(), &stream);
    return Outcome::kDone;
  }
  // Sets the flag even if dropped by force, so that nobody waits for it forever.
  void Finish(StreamList& can_go_on) noexcept override;

  // Takes over a reference. Returns nullptr if memory is exhausted.
  static RecordTask* New(Notify* notify) noexcept;

 private:
  Notify* notify_ = nullptr;
  bool queued_ = false;
};

// Waits parked, without using a thread; with a timeout a worker waits.
class TakeTask final : public Task {
 public:
  Outcome Run(Stream& stream) noexcept override {
    if (notify_->signal() != nullptr) {
      sanitizer::hooks->StreamWaits(&stream, notify_->signal());
      sanitizer::hooks->WantAll();
    }
    if (!is_timed_) {
      if (notify_->TakeOrJoin(stream)) return Outcome::kDone;
      // An Interrupt before the stream joined found nothing to remove.
      return given_up_.load() && notify_->Leave(stream) ? Outcome::kDone : Outcome::kParked;
    }
    const Deadline deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds_);
    if (!notify_->TakeUntil(deadline, given_up_) && !given_up_.load()) {
      stream.NoteFailure({ACL_ERROR_RT_WAIT_TIMEOUT,
                          "the timeout of aclrtWaitAndResetNotify ended before the notify was recorded; the "
                          "stream went on."});
    }
    return Outcome::kDone;
  }
  bool Interrupt(Stream& stream) noexcept override {
    given_up_.store(true);
    notify_->WakeThreads();
    return !is_timed_ && notify_->Leave(stream);
  }
  void Finish(StreamList&) noexcept override;

  // Takes over a reference, and with a timeout one workers::Reserve. Returns nullptr if memory is exhausted.
  static TakeTask* New(Notify* notify, uint32_t seconds) noexcept;

 private:
  Notify* notify_ = nullptr;
  uint32_t seconds_ = 0;
  bool is_timed_ = false;
  std::atomic<bool> given_up_{false};
};

HandleTable<RecordTask, 0x6E> record_tasks;
HandleTable<TakeTask, 0x6F> take_tasks;

RecordTask* RecordTask::New(Notify* notify) noexcept {
  RecordTask* task = record_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->notify_ = notify;
  task->queued_ = false;
  return task;
}

void RecordTask::Finish(StreamList& can_go_on) noexcept {
  if (queued_) notify_->Set(can_go_on);
  notify_->Unref();
  record_tasks.Recycle(this);
}

TakeTask* TakeTask::New(Notify* notify, uint32_t seconds) noexcept {
  TakeTask* task = take_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->notify_ = notify;
  task->seconds_ = seconds;
  task->is_timed_ = seconds > 0;
  task->given_up_.store(false);
  task->affinity = task->is_timed_ ? Affinity::kReservedWorker : Affinity::kAnywhere;
  return task;
}

void TakeTask::Finish(StreamList&) noexcept {
  notify_->Unref();
  if (is_timed_) workers::Unreserve();
  take_tasks.Recycle(this);
}

void AfterFork() {
  notify_table.ForEachSlot([](Notify& notify) { notify.AfterFork(); });
}

aclError FailUnknownNotify(const char* api, aclrtNotify handle) noexcept {
  if (handle == nullptr) return FailNullPointer(api, "notify", "a live notify");
  return FailValue(api, "notify", static_cast<const void*>(handle),
                   "a notify made by aclrtCreateNotify and not yet destroyed");
}

Notify* FindNotify(const char* api, aclrtNotify handle, aclError* status) noexcept {
  Notify* found = notify_table.Find(handle);
  if (found == nullptr) *status = FailUnknownNotify(api, handle);
  return found;
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory to queue the work."));
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtCreateNotify(aclrtNotify* notify, uint64_t flag) {
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  const char* const api = "aclrtCreateNotify";
  if (notify == nullptr) return FailNullPointer(api, "notify", "the address of an aclrtNotify");
  if (flag != 0) return FailValue(api, "flag", flag, "0");
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  Notify* created = notify_table.Acquire();
  if (created == nullptr) {
    return Fail(ACL_ERROR_RT_NO_NOTIFY_RESOURCE, MessageClass::kAclInner,
                Text(api, ": no memory or no slot for another notify."));
  }
  created->Open(notify_table.NextHandle(created));
  *notify = notify_table.Publish(created);
  if (sanitizer::IsOn(sanitizer::kHandles)) {
    sanitizer::hooks->HandleMade("a notify", "aclrtDestroyNotify", api, *notify);
  }
  return ACL_SUCCESS;
}

aclError aclrtDestroyNotify(aclrtNotify notify) {
  aclError status = ACL_SUCCESS;
  if (FindNotify("aclrtDestroyNotify", notify, &status) == nullptr) return status;
  if (sanitizer::IsOn(sanitizer::kHandles)) sanitizer::hooks->HandleGoes(notify);
  if (Notify* taken = notify_table.Take(notify)) taken->Close();
  return ACL_SUCCESS;
}

aclError aclrtRecordNotify(aclrtNotify notify, aclrtStream stream) {
  const profile::Call profiled("aclrtRecordNotify");
  const char* const api = "aclrtRecordNotify";
  aclError status = ACL_SUCCESS;
  Notify* found = FindNotify(api, notify, &status);
  if (found == nullptr) return status;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  if (IsUnrecordable(api, queue, &status)) return status;
  if (!found->RefIf(notify)) return FailUnknownNotify(api, notify);
  RecordTask* task = RecordTask::New(found);
  if (task == nullptr) {
    found->Unref();
    return FailNoMemory(api);
  }
  return queue.SubmitFor(api, task);
}

aclError aclrtWaitAndResetNotify(aclrtNotify notify, aclrtStream stream, uint32_t timeout) {
  const profile::Call profiled("aclrtWaitAndResetNotify");
  const char* const api = "aclrtWaitAndResetNotify";
  aclError status = ACL_SUCCESS;
  Notify* found = FindNotify(api, notify, &status);
  if (found == nullptr) return status;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  if (IsUnrecordable(api, queue, &status)) return status;
  if (!found->RefIf(notify)) return FailUnknownNotify(api, notify);
  if (timeout > 0 && !workers::Reserve()) {
    found->Unref();
    return FailNoThread(api);
  }
  TakeTask* task = TakeTask::New(found, timeout);
  if (task == nullptr) {
    if (timeout > 0) workers::Unreserve();
    found->Unref();
    return FailNoMemory(api);
  }
  if (sanitizer::IsOn(sanitizer::kSync)) {
    sanitizer::hooks->Queue(task, api, NameForChecks(*queue.stream, queue.handle), {},
                            sanitizer::Waits::kForAnything);
  }
  return queue.SubmitFor(api, task);
}

aclError aclrtGetNotifyId(aclrtNotify notify, uint32_t* notifyId) {
  const char* const api = "aclrtGetNotifyId";
  if (notifyId == nullptr) return FailNullPointer(api, "notifyId", "the address of a uint32_t");
  aclError status = ACL_SUCCESS;
  Notify* found = FindNotify(api, notify, &status);
  if (found == nullptr) return status;
  *notifyId = found->id();
  return ACL_SUCCESS;
}

aclError aclrtNotifyBatchReset(aclrtNotify* notifies, size_t num) {
  const char* const api = "aclrtNotifyBatchReset";
  if (notifies == nullptr) return FailNullPointer(api, "notifies", "an array of notifies");
  if (num == 0) return FailValue(api, "num", num, "1 or more", ACL_ERROR_INVALID_PARAM);
  aclError status = ACL_SUCCESS;
  for (size_t i = 0; i < num; ++i) {
    if (FindNotify(api, notifies[i], &status) == nullptr) return status;
  }
  for (size_t i = 0; i < num; ++i) {
    if (Notify* found = notify_table.Find(notifies[i])) found->ClearIf(notifies[i]);
  }
  return ACL_SUCCESS;
}
