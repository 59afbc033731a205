// Copies and fills in stream order.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "acl/acl_rt.h"
#include "acl/configuration.h"
#include "acl/errors.h"
#include "acl/handle_table.h"
#include "acl/memory.h"
#include "acl/stream.h"

namespace portacl {
namespace {

// What a thread moves in about the time that handing the work to a worker takes (bench/stream_paths.cc).
constexpr size_t kSmallBytes = size_t{64} << 10;

class CopyTask final : public Task {
 public:
  Outcome Run(Stream&) noexcept override {
    if (source_ != nullptr) {
      std::memmove(to_, source_, count_);
    } else {
      std::memset(to_, value_, count_);
    }
    return Outcome::kDone;
  }
  void Finish(StreamList&) noexcept override { GiveBack(); }
  void GiveBack() noexcept;

  // Copies from `source`; null fills with `value`. nullptr when memory is exhausted.
  static CopyTask* New(void* to, const void* source, int32_t value, size_t count) noexcept;

 private:
  void* to_ = nullptr;
  const void* source_ = nullptr;
  int32_t value_ = 0;
  size_t count_ = 0;
};

HandleTable<CopyTask, 0x4D> copy_tasks;

CopyTask* CopyTask::New(void* to, const void* source, int32_t value, size_t count) noexcept {
  CopyTask* task = copy_tasks.Acquire();
  if (task == nullptr) return nullptr;
  task->to_ = to;
  task->source_ = source;
  task->value_ = value;
  task->count_ = count;
  task->place = count <= kSmallBytes ? Place::kAnywhere : Place::kWorker;
  return task;
}

void CopyTask::GiveBack() noexcept { copy_tasks.Recycle(this); }

aclError Submit(const char* api, aclrtStream stream, CopyTask* task, bool completes) noexcept {
  aclError status = ACL_SUCCESS;
  Stream* queue = FindStreamFor(api, stream, &status);
  if (queue == nullptr) {
    if (task != nullptr) task->GiveBack();
    return status;
  }
  if (task == nullptr) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": not enough memory to queue the work."));
  }
  completes = completes || CurrentConfiguration().launch_blocking;
  queue->Submit(task, completes ? Stream::Wait::kUntilDone : Stream::Wait::kNo);
  return ACL_SUCCESS;
}

// Whether an operand of the copy is host memory that no device could read or write by itself.
bool IsPageable(const void* address, bool is_host) noexcept {
  return is_host && KindOfMemory(address) == MemoryKind::kUnknown;
}

aclError CheckCount(const char* api, size_t count, const char* room_name, size_t room) noexcept {
  if (count <= room) return ACL_SUCCESS;
  return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
              Text(api, ": parameter count has the value ", count, ", accepted: at most ", room_name,
                   ", which is ", room, "."));
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtMemcpyAsync(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind,
                          aclrtStream stream) {
  const char* const api = "aclrtMemcpyAsync";
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
  const bool from_host = kind == ACL_MEMCPY_HOST_TO_DEVICE || kind == ACL_MEMCPY_DEFAULT;
  const bool to_host = kind == ACL_MEMCPY_DEVICE_TO_HOST || kind == ACL_MEMCPY_DEFAULT;
  // A copy through a buffer promises that the source may change at once.
  const bool completes =
      kind == ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE || IsPageable(src, from_host) || IsPageable(dst, to_host);
  return Submit(api, stream, CopyTask::New(dst, src, 0, count), completes);
}

aclError aclrtMemsetAsync(void* devPtr, size_t maxCount, int32_t value, size_t count, aclrtStream stream) {
  const char* const api = "aclrtMemsetAsync";
  if (count == 0) return ACL_SUCCESS;
  if (devPtr == nullptr) return FailNullPointer(api, "devPtr", "a valid address");
  if (aclError status = CheckCount(api, count, "maxCount", maxCount)) return status;
  return Submit(api, stream, CopyTask::New(devPtr, nullptr, value, count), false);
}
