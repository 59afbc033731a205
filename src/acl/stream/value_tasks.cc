// Streams that write a 64-bit value to memory, and streams that wait for one.
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <new>

#include "acl/acl_rt.h"
#include "acl/errors.h"
#include "acl/handle_table.h"
#include "acl/process/cancellation.h"
#include "acl/process/fork.h"
#include "acl/process/immortal.h"
#include "acl/queue/stream.h"
#include "acl/queue/workers.h"
#include "acl/stream/found_stream.h"
#include "check/device_memory.h"
#include "check/order.h"

namespace portacl {
namespace {

// Threads whose stream waits for a value sleep here. A stream that writes one wakes them at once; a value
// that comes from elsewhere (a copy, the program itself) is found by looking again after a while.
struct Writes {
  std::mutex mutex;
  std::condition_variable changed;
};

constexpr auto kFirstPause = std::chrono::microseconds(50);
constexpr auto kLongestPause = std::chrono::milliseconds(2);

void AfterFork();

Writes& TheWrites() {
  static Immortal<Writes> writes;
  static const bool registered = CallInForkedChild(AfterFork);
  (void)registered;
  return *writes;
}

// Waiting threads are gone in the child.
void AfterFork() {
  Writes* writes = &TheWrites();
  new (writes) Writes;
}

void WakeAll() noexcept {
  Writes& writes = TheWrites();
  { std::lock_guard lock(writes.mutex); }  // who has looked and not yet gone to sleep holds it
  writes.changed.notify_all();
}

class WriteTask final : public Task {
 public:
  Outcome Run(Stream&) noexcept override {
    __atomic_store_n(address_, value_, __ATOMIC_RELEASE);
    WakeAll();
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
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::WantAll();
    Writes& writes = TheWrites();
    std::chrono::steady_clock::duration pause = kFirstPause;
    const CancellationDeferred deferred;
    std::unique_lock lock(writes.mutex);
    while (!given_up_.load() && !Holds()) {
      writes.changed.wait_for(lock, pause);
      pause = std::min<std::chrono::steady_clock::duration>(2 * pause, kLongestPause);
    }
    // Anybody may have written the value.
    if (sanitizer::IsOn(sanitizer::kSync)) sanitizer::StreamWaitsForAll(&stream);
    return Outcome::kDone;
  }
  bool Interrupt(Stream&) noexcept override {
    given_up_.store(true);
    WakeAll();
    return false;
  }
  void Finish(StreamList&) noexcept override;

  // Takes over one workers::Reserve.
  static WaitTask* New(const uint64_t* address, uint64_t value, uint32_t condition) noexcept;

 private:
  bool Holds() const noexcept {
    const uint64_t found = __atomic_load_n(address_, __ATOMIC_ACQUIRE);
    switch (condition_) {
      case ACL_STREAM_WAIT_VALUE_GEQ:
        return static_cast<int64_t>(found - value_) >= 0;
      case ACL_STREAM_WAIT_VALUE_EQ:
        return found == value_;
      case ACL_STREAM_WAIT_VALUE_AND:
        return (found & value_) != 0;
      default:
        return ~(found | value_) != 0;
    }
  }

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
  task->place = Place::kReservedWorker;
  return task;
}

void WaitTask::Finish(StreamList&) noexcept {
  workers::Unreserve();
  wait_tasks.Recycle(this);
}

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
  const char* const api = "aclrtValueWrite";
  if (aclError status = CheckAddress(api, devAddr)) return status;
  if (flag != 0) return FailValue(api, "flag", flag, "0");
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  TheWrites();  // so that nothing is left to set up when the task runs
  sanitizer::MarkWritten(devAddr, sizeof value);
  WriteTask* task = WriteTask::New(sanitizer::Working(static_cast<uint64_t*>(devAddr)), value);
  if (task == nullptr) return FailNoMemory(api);
  return queue.SubmitFor(api, task);
}

aclError aclrtValueWait(void* devAddr, uint64_t value, uint32_t flag, aclrtStream stream) {
  const char* const api = "aclrtValueWait";
  if (aclError status = CheckAddress(api, devAddr)) return status;
  if (flag > ACL_STREAM_WAIT_VALUE_NOR) {
    return FailValue(api, "flag", flag, "0 to 3 (ACL_STREAM_WAIT_VALUE_GEQ, EQ, AND, NOR)");
  }
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) return status;
  if (!workers::Reserve()) return FailNoThread(api);
  WaitTask* task = WaitTask::New(sanitizer::Working(static_cast<const uint64_t*>(devAddr)), value, flag);
  if (task == nullptr) {
    workers::Unreserve();
    return FailNoMemory(api);
  }
  if (sanitizer::IsOn(sanitizer::kSync)) {
    sanitizer::Queue(task, api, NameForChecks(*queue.stream, queue.handle), {},
                     sanitizer::Waits::kForAnything);
  }
  return queue.SubmitFor(api, task);
}
