// Forwards each hook to its check (see hooks.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/hooks.h"

#include <utility>

#include "base/sanitizer_hooks.h"
#include "sanitizer/calls.h"
#include "sanitizer/checked_call.h"
#include "sanitizer/copies.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/frees.h"
#include "sanitizer/handles.h"
#include "sanitizer/order.h"

namespace portacl::sanitizer {
namespace {

class Checks final : public Hooks {
 public:
  void HandleMade(const char* what, const char* mend, const char* api, const void* handle) noexcept override {
    sanitizer::HandleMade(what, mend, api, handle);
  }
  void HandleGoes(const void* handle) noexcept override { sanitizer::HandleGoes(handle); }
  void NoDevice(const char* api, bool is_set_elsewhere) noexcept override {
    sanitizer::NoDevice(api, is_set_elsewhere);
  }
  void MemoryOfAnotherDevice(const char* api, const char* operand, const void* address, int of_memory,
                             int of_stream) noexcept override {
    sanitizer::MemoryOfAnotherDevice(api, operand, address, of_memory, of_stream);
  }
  void ProgramEnds() noexcept override {
    TellCallsLeft();
    TellHandlesLeft();
  }

  void Queue(const void* task, const char* api, const StreamName& stream, std::vector<Access> accesses,
             Waits waits) noexcept override {
    sanitizer::Queue(task, api, stream, std::move(accesses), waits);
  }
  void Begin(const void* task) noexcept override { sanitizer::Begin(task); }
  void End(const void* task) noexcept override { sanitizer::End(task); }
  SignalPointer NewSignal() noexcept override { return sanitizer::NewSignal(); }
  void Raise(const SignalPointer& signal, const void* stream) noexcept override {
    sanitizer::Raise(signal, stream);
  }
  void StreamWaits(const void* stream, const SignalPointer& signal) noexcept override {
    sanitizer::StreamWaits(stream, signal);
  }
  void StreamWaitsForAll(const void* stream) noexcept override { sanitizer::StreamWaitsForAll(stream); }
  void HostWaited(const void* stream) noexcept override { sanitizer::HostWaited(stream); }
  void HostWaited(const SignalPointer& signal) noexcept override { sanitizer::HostWaited(signal); }
  void HostFunctionEnds(const void* stream) noexcept override { sanitizer::HostFunctionEnds(stream); }
  void HostFrees(const char* api, const void* address, size_t size) noexcept override {
    sanitizer::HostFrees(api, address, size);
  }
  void OwnMemoryGoes(const void* address, size_t size) noexcept override {
    sanitizer::OwnMemoryGoes(address, size);
  }
  void Hold(const void* stream) noexcept override { sanitizer::Hold(stream); }
  void AwaitWanted(const void* stream) noexcept override { sanitizer::AwaitWanted(stream); }
  void Want(const void* stream) noexcept override { sanitizer::Want(stream); }
  void WantAll() noexcept override { sanitizer::WantAll(); }

  void* AllocateDevice(const char* api, size_t size) noexcept override {
    return sanitizer::AllocateDevice(api, size);
  }
  void FreeDevice(const char* api, void* address) noexcept override { sanitizer::FreeDevice(api, address); }
  uint64_t BeginWork() noexcept override { return sanitizer::BeginWork(); }
  void EndWork(uint64_t work) noexcept override { sanitizer::EndWork(work); }
  void* ReserveDevice(size_t size, size_t alignment) noexcept override {
    return sanitizer::ReserveDevice(size, alignment);
  }
  void ReleaseDevice(void* address) noexcept override { sanitizer::ReleaseDevice(address); }
  bool MapDevice(const char* api, void* address, size_t size, int from, bool host_may_use) noexcept override {
    return sanitizer::MapDevice(api, address, size, from, host_may_use);
  }
  bool UnmapDevice(const char* api, void* address, size_t size) noexcept override {
    return sanitizer::UnmapDevice(api, address, size);
  }
  void MarkWritten(const void* address, size_t size) noexcept override {
    sanitizer::MarkWritten(address, size);
  }
  void MarkWrittenToEnd(const void* address) noexcept override { sanitizer::MarkWrittenToEnd(address); }
  void CheckWrongFree(const char* api, const char* source, const void* address) noexcept override {
    sanitizer::CheckWrongFree(api, source, address);
  }

  void CheckCopy(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept override {
    sanitizer::CheckCopy(api, rows, kind);
  }
  void CheckFill(const char* api, const void* address, size_t size) noexcept override {
    sanitizer::CheckFill(api, address, size);
  }
  void CheckOperand(const char* api, const char* operand, const void* address,
                    size_t size) noexcept override {
    sanitizer::CheckOperand(api, operand, address, size);
  }
  void MoveBytes(const CopyRows& rows, int32_t value) noexcept override { sanitizer::MoveBytes(rows, value); }
  void CopyChecked(const char* api, const CopyRows& rows, aclrtMemcpyKind kind) noexcept override {
    sanitizer::CopyChecked(api, rows, kind);
  }
  void FillChecked(const char* api, void* address, int32_t value, size_t size) noexcept override {
    sanitizer::FillChecked(api, address, value, size);
  }

  void TensorMade(const char* api, const aclTensor* tensor) noexcept override {
    sanitizer::TensorMade(api, tensor);
  }
  void TensorChanged(const char* api, const aclTensor* tensor) noexcept override {
    sanitizer::TensorChanged(api, tensor);
  }
  bool TensorGoes(const char* api, const aclTensor* tensor) noexcept override {
    return sanitizer::TensorGoes(api, tensor);
  }

  void Phase1Ends(const void* slot, const char* api, const aclOpExecutor* handle,
                  std::vector<OperandInfo> operands) noexcept override {
    NoteOperands(slot, api, operands);
    if (KeepsCalls()) sanitizer::Phase1Ends(slot, api, handle, std::move(operands));
  }
  void Phase2Begins(const char* api, const CallInSlot& call, const void* workspace,
                    uint64_t workspace_size) noexcept override {
    if (KeepsCalls()) sanitizer::Phase2Begins(api, call, workspace, workspace_size);
  }
  void Phase2FindsNone(const char* api, const aclOpExecutor* handle) noexcept override {
    if (KeepsCalls()) sanitizer::Phase2FindsNone(api, handle);
  }
  void CheckLaunch(const CallInSlot& call) noexcept override { sanitizer::CheckLaunch(call); }
  void CallIsCopied(const void* from, const void* to) noexcept override {
    if (KeepsCalls()) sanitizer::CallIsCopied(from, to);
    CopyNotes(from, to);
  }
  void StartWork(const void* slot) noexcept override { sanitizer::StartWork(slot); }
  std::vector<Access> AccessesOf(const CallInSlot& call) noexcept override {
    return sanitizer::AccessesOf(call);
  }
  void* BeforeWork(const CallInSlot& call) noexcept override { return sanitizer::BeforeWork(call); }
  void CallGoes(const void* slot) noexcept override {
    ForgetNotes(slot);
    if (KeepsCalls()) sanitizer::CallGoes(slot);
  }
};

constinit Checks checks;

}  // namespace

void PutInForce(const Settings& settings) noexcept {
  SetStopsAtFirst(settings.stops);
  hooks = settings.parts == 0 ? nullptr : &checks;
  parts_in_force.store(settings.parts, std::memory_order_release);
}

}  // namespace portacl::sanitizer
