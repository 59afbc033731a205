// Copies and fills in stream order.
// SPDX-License-Identifier: Apache-2.0
#include "acl/memory/async_copy.h"

#include <cstring>
#include <utility>
#include <vector>

#include "acl/memory/memory.h"
#include "acl/queue/stream.h"
#include "acl/settings/configuration.h"
#include "acl/stream/capture.h"
#include "acl/stream/found_stream.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

// The bytes that a thread moves in about the time of handing the work to a worker (bench/stream_paths.cc).
constexpr size_t kSmallBytes = size_t{64} << 10;

class CopyTask final : public Task {
 public:
  Outcome Run(Stream&) noexcept override {
    if (sanitizer::IsOn()) {
      sanitizer::hooks->MoveBytes(rows_, value_);
      return Outcome::kDone;
    }
    if (rows_.from == nullptr) {
      std::memset(rows_.to, value_, rows_.width);
      return Outcome::kDone;
    }
    auto* to = static_cast<char*>(rows_.to);
    const auto* from = static_cast<const char*>(rows_.from);
    for (size_t row = 0; row < rows_.height; ++row, to += rows_.to_pitch, from += rows_.from_pitch) {
      std::memmove(to, from, rows_.width);
    }
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override { GiveBack(); }
  void GiveBack() noexcept;

  const CopyRows& rows() const noexcept { return rows_; }

  // Makes a task that copies the rows, or fills them with `value` if there is no source. Returns nullptr if
  // memory is exhausted.
  static CopyTask* New(const CopyRows& rows, int32_t value) noexcept;

 private:
  CopyRows rows_;
  int32_t value_ = 0;
  uint64_t work_ = 0;  // of Hooks::BeginWork
};

HandleTable<CopyTask, 0x4D> copy_tasks;

CopyTask* CopyTask::New(const CopyRows& rows, int32_t value) noexcept {
  CopyTask* task = copy_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->rows_ = rows;
  task->work_ = sanitizer::IsOn() ? sanitizer::hooks->BeginWork() : 0;
  task->value_ = value;
  task->affinity = rows.width <= kSmallBytes / rows.height ? Affinity::kAnywhere : Affinity::kWorker;
  return task;
}

void CopyTask::GiveBack() noexcept {
  if (sanitizer::IsOn()) sanitizer::hooks->EndWork(work_);
  copy_tasks.Recycle(this);
}

aclError RecordCopy(const char* api, const FoundStream& queue, CopyTask* task, bool completes) noexcept {
  if (completes) {
    task->GiveBack();
    return RefuseInCapture(
        api, queue, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC,
        "a copy from or to host memory that is not pinned is done when the call returns, and would "
        "not be in the graph that is captured; accepted: memory of aclrtMallocHost, or registered. "
        "The capture is invalidated");
  }
  const CopyRows& rows = task->rows();
  RecordedInfo info{.api = api, .kind = rows.from == nullptr ? RecordedKind::kFill : RecordedKind::kCopy};
  // Estimates the number of elements whose computation takes as long as copying these bytes.
  info.elements = task->affinity == Task::Affinity::kAnywhere
                      ? static_cast<int64_t>(rows.width * rows.height * (kSmallGraph / kSmallBytes))
                      : kSmallGraph + 1;
  try {
    for (const void* one : {rows.from, static_cast<const void*>(rows.to)}) {
      if (one != nullptr) info.addresses.push_back(one);
    }
    if (sanitizer::IsOn(sanitizer::kSync)) info.accesses = sanitizer::AccessesOfCopy(rows);
  } catch (...) {
    task->GiveBack();
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory to record the work."));
  }
  return Record(api, queue, task, std::move(info));
}

aclError Submit(const char* api, aclrtStream stream, CopyTask* task, bool completes) noexcept {
  aclError status = ACL_SUCCESS;
  const FoundStream queue = FindStreamFor(api, stream, &status);
  if (!queue) {
    if (task != nullptr) task->GiveBack();
    return status;
  }
  if (task == nullptr) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory to queue the work."));
  }
  if (profile::IsOn()) {
    const CopyRows& rows = task->rows();
    profile::Describe(profile::Interned(Text("\"Bytes\":", rows.width * rows.height).view()));
  }
  if (IsCaptured(queue)) return RecordCopy(api, queue, task, completes);
  if (sanitizer::IsOn(sanitizer::kSync)) {
    sanitizer::hooks->Queue(task, api, NameForChecks(*queue.stream, queue.handle),
                            sanitizer::AccessesOfCopy(task->rows()));
  }
  return queue.SubmitFor(api, task,
                         completes                                ? Stream::Wait::kUntilDone
                         : CurrentConfiguration().launch_blocking ? Stream::Wait::kLaunchBlocking
                                                                  : Stream::Wait::kNo);
}

// Tells whether an operand of the copy is host memory that no device could access by itself.
bool IsPageable(const void* address, size_t pitch, const CopyRows& rows) noexcept {
  const auto* last = static_cast<const char*>(address) + (rows.height - 1) * pitch + (rows.width - 1);
  return KindOfMemory(address) == MemoryKind::kUnknown || KindOfMemory(last) == MemoryKind::kUnknown;
}

aclError CheckCount(const char* api, size_t count, const char* room_name, size_t room) noexcept {
  if (count <= room) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
              Text(api, ": parameter count has the value ", count, ", accepted: at most ", room_name,
                   ", which is ", room, "."));
}

aclError Copy(const char* api, void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
              aclrtStream stream) noexcept {
  if (kind == ACL_MEMCPY_HOST_TO_HOST) {
    return Fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, MessageClass::kAclUnsupported,
                Text(api,
                     ": parameter kind has the value 0 (ACL_MEMCPY_HOST_TO_HOST), which no stream does; "
                     "accepted: 1 to 7, or aclrtMemcpy."));
  }
  if (count == 0) return ACL_SUCCESS;
  if (dst == nullptr || src == nullptr) {
    return FailNullPointer(api, dst == nullptr ? "dst" : "src", "a valid address");
  }
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_INTER_DEVICE_TO_DEVICE) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter kind has the value ", static_cast<int>(kind), ", accepted: 1 to 7."));
  }
  if (aclError status = CheckCount(api, count, "destMax", destMax)) return status;
  const CopyRows rows{.to = dst, .from = src, .width = count};
  if (sanitizer::IsOn()) sanitizer::hooks->CheckCopy(api, rows, kind);
  return SubmitCopy(api, stream, rows, MustComplete(kind, rows));
}

}  // namespace

aclError SubmitCopy(const char* api, aclrtStream stream, const CopyRows& rows, bool completes) noexcept {
  return Submit(api, stream, CopyTask::New(rows, 0), completes);
}

bool MustComplete(aclrtMemcpyKind kind, const CopyRows& rows) noexcept {
  const bool from_host = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEFAULT;
  const bool to_host = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEFAULT;
  // A copy through a buffer promises that the source may change at once.
  return kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE ||
         (from_host && IsPageable(rows.from, rows.from_pitch, rows)) ||
         (to_host && IsPageable(rows.to, rows.to_pitch, rows));
}

}  // namespace portacl

using namespace portacl;

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  const profile::Call profiled("aclrtMemcpyAsync");
  return Copy("aclrtMemcpyAsync", dst, destMax, src, count, kind, stream);
}

aclError aclrtMemcpyAsyncWithCondition(void* dst, size_t destMax, const void* src, size_t count,
                                       aclrtMemcpyKind kind, aclrtStream stream) {
  const profile::Call profiled("aclrtMemcpyAsyncWithCondition");
  return Copy("aclrtMemcpyAsyncWithCondition", dst, destMax, src, count, kind, stream);
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  const profile::Call profiled("aclrtMemsetAsync");
  const char* const api = "aclrtMemsetAsync";
  if (count == 0) return ACL_SUCCESS;
  if (devPtr == nullptr) return FailNullPointer(api, "devPtr", "a valid address");
  if (aclError status = CheckCount(api, count, "maxCount", maxCount)) return status;
  const CopyRows rows{.to = devPtr, .width = count};
  if (sanitizer::IsOn()) sanitizer::hooks->CheckFill(api, devPtr, count);
  return Submit(api, stream, CopyTask::New(rows, value), false);
}
