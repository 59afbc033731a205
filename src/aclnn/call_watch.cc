// Notifies checks and recordings of operators' calls (see call_watch.h).
// SPDX-License-Identifier: Apache-2.0
#include "aclnn/call_watch.h"

#include <mutex>
#include <vector>

#include "acl/device/peer_access.h"
#include "acl/memory/memory.h"
#include "acl/queue/stream.h"
#include "base/sanitizer_hooks.h"

namespace portacl {
namespace {

sanitizer::CallInSlot CallOf(const Executor& executor, void* workspace) noexcept {
  return {&executor,
          executor.api,
          executor.operand_count,
          executor.addresses,
          executor.touched,
          workspace,
          executor.workspace_size,
          executor.repeatable,
          executor.job.IsThere()};
}

// Reports operands in the memory of a device that the stream's device has no access to.
void CheckDevices(const char* api, const Executor& executor, const Stream& stream) noexcept {
  for (int i = 0; i < executor.operand_count; ++i) {
    if (!executor.touched[i]) continue;
    const MemoryInfo info = InfoOfMemory(executor.addresses[i]);
    if (info.kind != MemoryKind::kDevice || info.device == stream.device()) continue;
    if (HasPeerAccess(stream.device(), info.device)) continue;
    Text operand;
    AddOperandName(operand, executor, i);
    sanitizer::hooks->MemoryOfAnotherDevice(api, operand.c_str(), executor.addresses[i], info.device,
                                            stream.device());
  }
}

record::CallWork WorkOf(const Executor& executor, const Stream& stream, bool computes) noexcept {
  return {&executor, executor.addresses, executor.touched, stream.device(), stream.id(), computes};
}

}  // namespace

void watch::told::FindsNone(const char* api, const aclOpExecutor* handle) noexcept {
  sanitizer::hooks->Phase2FindsNone(api, handle);
}

void watch::told::Begins(const char* api, const Executor& executor, void* workspace,
                         uint64_t workspace_size) noexcept {
  sanitizer::hooks->Phase2Begins(api, CallOf(executor, executor.workspace), workspace, workspace_size);
}

void watch::told::HasNothingToDo(const Executor& executor, const Stream& stream) noexcept {
  record::RunningCall(WorkOf(executor, stream, /*computes=*/false)).Finish({});
}

void watch::told::Launches(const Executor& executor, void* workspace) noexcept {
  sanitizer::hooks->CheckLaunch(CallOf(executor, workspace));
}

void watch::told::IsCopied(const Executor& from, const Executor& to) noexcept {
  if (sanitizer::IsOn()) sanitizer::hooks->CallIsCopied(&from, &to);
  if (record::IsOn()) record::RecordedCallIsCopied(&from, &to);
}

void watch::told::IsQueued(const char* api, Executor& executor, const FoundStream& queue) noexcept {
  sanitizer::hooks->StartWork(&executor);
  if (sanitizer::IsOn(sanitizer::kHandles)) CheckDevices(api, executor, *queue.stream);
  if (!sanitizer::IsOn(sanitizer::kSync)) return;
  sanitizer::hooks->Queue(
      static_cast<Task*>(&executor), api, NameForChecks(*queue.stream, queue.handle),
      sanitizer::hooks->AccessesOf(CallOf(executor, executor.workspace)),
      executor.Communicates() ? sanitizer::Waits::kForAnything : sanitizer::Waits::kForStreams);
}

void watch::told::IsCaptured(const Executor& executor, RecordedInfo* info) {
  sanitizer::hooks->StartWork(&executor);
  if (!sanitizer::IsOn(sanitizer::kSync)) return;
  info->accesses = sanitizer::hooks->AccessesOf(CallOf(executor, executor.workspace));
}

void watch::told::BeginsWork(Executor& executor) noexcept {
  executor.workspace = sanitizer::hooks->BeforeWork(CallOf(executor, executor.workspace));
}

void watch::told::Goes(const Executor& executor) noexcept {
  if (sanitizer::IsOn()) sanitizer::hooks->CallGoes(&executor);
  if (record::IsOn()) record::RecordedCallGoes(&executor);
}

void watch::Work::Record(const Stream& stream) noexcept {
  recorded_.emplace(WorkOf(executor_, stream, /*computes=*/true));
}

void watch::Work::Finish() noexcept {
  try {
    std::vector<record::LaterShape> shapes;
    for (int i = 0; executor_.sets_shapes && i < kMaxShaped; ++i) {
      std::unique_lock<std::mutex> lock;
      const aclTensor* const tensor = executor_.shaped[i].Get(&lock);
      if (tensor == nullptr) continue;
      shapes.push_back({tensor, {tensor->shape.dim, tensor->shape.dim + tensor->shape.rank}});
    }
    recorded_->Finish(shapes);
  } catch (...) {
    // A call is not recorded if memory runs out.
  }
}

}  // namespace portacl
