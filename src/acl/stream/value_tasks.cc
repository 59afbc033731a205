// Streams that write a 64-bit value to memory, and streams that wait for one.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/queue/stream.h"
#include "acl/queue/workers.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "acl/stream/value_changes.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

bool Holds(const uint64_t* address, uint64_t value, uint32_t condition) noexcept {
  const uint64_t found = __atomic_load_n(address, __ATOMIC_ACQUIRE);
  switch (condition) {
    case ACL_STREAM_WAIT_VALUE_GEQ:
      return static_cast<int64_t>(found - value) >= 0;
    case ACL_STREAM_WAIT_VALUE_EQ:
      return found == value;
    case ACL_STREAM_WAIT_VALUE_AND:
      return (found & value) != 0;
    default:
      return ~(found | value) != 0;
  }
}

class WriteTask final : public Task {
 public:
  Outcome Run(Stream&) noexcept override {
    __atomic_store_n(address_, value_, __ATOMIC_RELEASE);
    TellOfValueChange();
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override;

  static WriteTask* New(uint64_t* address, uint64_t value) noexcept;

 private:
  uint64_t* address_ = nullptr;
  uint64_t value_ = 0;
};

class WaitTask final : public Task {
 public:
  Outcome Run(Stream& stream) noexcept override {
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->WantAll();
    const auto enough = [this] { return given_up_.load() || Holds(address_, value_, condition_); };
    ValueWait wait;
    while (!enough()) wait.Sleep(enough);
    // Any agent may have written the value.
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->StreamWaitsForAll(&stream);
    return Outcome::kDone;
  }
  bool Interrupt(Stream&) noexcept override {
    given_up_.store(true);
    TellOfValueChange();
    return false;
  }
  void Finish(StreamList&) noexcept override;

  // Takes over one workers::Reserve.
  static WaitTask* New(const uint64_t* address, uint64_t value, uint32_t condition) noexcept;

 private:
  const uint64_t* address_ = nullptr;
  uint64_t value_ = 0;
  uint32_t condition_ = 0;
  std::atomic<bool> given_up_{false};
};

HandleTable<WriteTask, 0x4F> write_tasks;
HandleTable<WaitTask, 0x4C> wait_tasks;

WriteTask* WriteTask::New(uint64_t* address, uint64_t value) noexcept {
  WriteTask* task = write_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->address_ = address;
  task->value_ = value;
  return task;
}

void WriteTask::Finish(StreamList&) noexcept { write_tasks.Recycle(this); }

WaitTask* WaitTask::New(const uint64_t* address, uint64_t value, uint32_t condition) noexcept {
  WaitTask* task = wait_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->address_ = address;
  task->value_ = value;
  task->condition_ = condition;
  task->given_up_.store(false);
  task->affinity = Affinity::kReservedWorker;
  return task;
}

void WaitTask::Finish(StreamList&) noexcept {
  workers::Unreserve();
  wait_tasks.Recycle(this);
}

// Makes a graph wait for a value.
class RecordedWait final : public RecordedTask {
 public:
  RecordedWait(const uint64_t* address, uint64_t value, uint32_t condition) noexcept
      : address_(address), value_(value), condition_(condition) {}
  Progress Run(Stream& stream, Scratch&) noexcept override {
    if (!Holds(address_, value_, condition_)) return Progress::kWaits;
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::hooks->StreamWaitsForAll(&stream);
    return Progress::kDone;
  }

 private:
  const uint64_t* const address_;
  const uint64_t value_;
  const uint32_t condition_;
};

aclError CheckAddress(const char* api, const void* address) noexcept {
  if (address == nullptr) return FailNullPointer(api, "devAddr", "the address of 8 bytes");
  if (reinterpret_cast<uintptr_t>(address) % sizeof(uint64_t) == 0) return ACL_SUCCESS;
  return FailValue(api, "devAddr", address, "a multiple of 8", ACL_ERROR_RT_ADDR_UNALIGNED);
}

aclError FailNoMemory(const char* api) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": not enough memory to queue the work."));
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtValueWrite(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  const profile::Call profiled("aclrtValueWrite");
  const char* const api = "aclrtValueWrite";
  if (aclError status = CheckAddress(api, devAddr)) return status;
  if (flag != 0) return FailValue(api, "flag", flag, "0");
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  PrepareValueChanges();
  if (sanitizer::IsOn()) sanitizer::hooks->MarkWritten(devAddr, sizeof value);
  WriteTask* task = WriteTask::New(sanitizer::Working(static_cast<uint64_t*>(devAddr)), value);
  if (task == nullptr) return FailNoMemory(api);
  if (IsCaptured(queue)) {
    return Record(
        api, queue, task,
        {.api = api, .kind = RecordedKind::kValueWrite, .subject = devAddr, .addresses = {devAddr}});
  }
  return queue.SubmitFor(api, task);
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  const profile::Call profiled("aclrtValueWait");
  const char* const api = "aclrtValueWait";
  if (aclError status = CheckAddress(api, devAddr)) return status;
  if (flag > ACL_STREAM_WAIT_VALUE_NOR) {
    return FailValue(api, "flag", flag, "0 to 3 (ACL_STREAM_WAIT_VALUE_GEQ, EQ, AND, NOR)");
  }
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  if (IsCaptured(queue)) {
    std::unique_ptr<RecordedTask> recorded(new (std::nothrow) RecordedWait(
        sanitizer::Working(static_cast<const uint64_t*>(devAddr)), value, flag));
    if (recorded == nullptr) return FailNoMemory(api);
    return Record(api, queue, std::move(recorded),
                  {.api = api,
                   .kind = RecordedKind::kValueWait,
                   .needs_worker = true,
                   .subject = devAddr,
                   .addresses = {devAddr}});
  }
  if (!workers::Reserve()) return FailNoThread(api);
  WaitTask* task = WaitTask::New(sanitizer::Working(static_cast<const uint64_t*>(devAddr)), value, flag);
  if (task == nullptr) {
    workers::Unreserve();
    return FailNoMemory(api);
  }
  if (sanitizer::IsOn(sanitizer::kSync)) {
    sanitizer::hooks->Queue(task, api, NameForChecks(*queue.stream, queue.handle), {},
                            sanitizer::Waits::kForAnything);
  }
  return queue.SubmitFor(api, task);
}
