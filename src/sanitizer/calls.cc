// Tracks tensors and calls of checked programs (see calls.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/calls.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "sanitizer/report.h"

namespace portacl::sanitizer {
namespace {

// The number of dead handles that are remembered, so that their use can be reported.
constexpr size_t kMostGone = 4096;

struct Call {
  std::vector<OperandInfo> operands;
  const char* api = "";
  const aclOpExecutor* handle = nullptr;
  CallStack made;
  // The first change of one of the call's tensors since phase 1.
  const char* disturbed_by = nullptr;
  size_t disturbed = 0;  // index of the operand
  CallStack disturbance;
};

struct LiveTensor {
  const char* api;
  CallStack made;
  std::vector<const void*> calls;  // calls between their phases
};

// The last handles that died: the function that ended them, and where they were made.
struct Gone {
  const char* api;
  CallStack made;
};
class GoneHandles {
 public:
  void Add(const void* handle, const char* api, const CallStack& made) {
    if (order_.size() == kMostGone) {
      const auto oldest = by_handle_.find(order_.front().first);
      if (oldest != by_handle_.end() && oldest->second.number == order_.front().second)
        by_handle_.erase(oldest);
      order_.pop_front();
    }
    by_handle_[handle] = {{api, made}, ++last_number_};
    order_.emplace_back(handle, last_number_);
  }
  void Remove(const void* handle) { by_handle_.erase(handle); }
  const Gone* Find(const void* handle) const {
    const auto found = by_handle_.find(handle);
    return found == by_handle_.end() ? nullptr : &found->second.gone;
  }

 private:
  struct Numbered {
    Gone gone;
    uint64_t number;
  };
  std::unordered_map<const void*, Numbered> by_handle_;
  std::deque<std::pair<const void*, uint64_t>> order_;
  uint64_t last_number_ = 0;
};

struct Calls {
  std::mutex mutex;
  std::unordered_map<const void*, Call> by_slot;
  std::unordered_map<const aclTensor*, LiveTensor> tensors;
  GoneHandles gone_executors;
  GoneHandles gone_tensors;
};

// A forked child keeps the objects that were alive.
Calls& TheCalls() {
  static NoDestructor<Calls> calls;
  static const bool guarded = GuardAcrossFork(calls->mutex, ForkRank::kCheckedCalls);
  (void)guarded;
  return *calls;
}

void AddOperandName(Text& text, const OperandInfo& operand) {
  text.Add(operand.name);
  if (operand.entry >= 0) text.Add('[').Add(operand.entry).Add(']');
}

StridedBytes At(const StridedBytes& bytes, const void* address) {
  StridedBytes moved = bytes;
  moved.begin += reinterpret_cast<uintptr_t>(address);
  return moved;
}

// Whether a call with that tensor is between its phases, and none of its tensors has changed yet.
bool IsAwaitedLocked(const Calls& calls, const aclTensor* tensor) {
  const auto live = calls.tensors.find(tensor);
  if (live == calls.tensors.end()) return false;
  return std::any_of(live->second.calls.begin(), live->second.calls.end(), [&calls](const void* slot) {
    const auto found = calls.by_slot.find(slot);
    return found != calls.by_slot.end() && found->second.disturbed_by == nullptr;
  });
}

// Returns the current stack if a call with the tensor is between its phases; otherwise an empty one, since
// nobody will see it.
CallStack HereIfAwaited(Calls& calls, const aclTensor* tensor) {
  {
    std::lock_guard lock(calls.mutex);
    if (!IsAwaitedLocked(calls, tensor)) return {};
  }
  return CallStackHere();
}

// Marks the calls between their phases that have the tensor as operand: it was changed, or is gone.
void DisturbLocked(Calls& calls, const char* api, const LiveTensor& live, const aclTensor* tensor,
                   const CallStack& here) {
  for (const void* slot : live.calls) {
    const auto found = calls.by_slot.find(slot);
    if (found == calls.by_slot.end() || found->second.disturbed_by != nullptr) continue;
    Call& call = found->second;
    call.disturbed_by = api;
    call.disturbance = here;
    for (size_t i = 0; i < call.operands.size(); ++i) {
      if (call.operands[i].tensor == tensor) call.disturbed = i;
    }
  }
}

void ForgetLocked(Calls& calls, const void* slot, const Call& call) {
  for (const OperandInfo& operand : call.operands) {
    const auto live = calls.tensors.find(operand.tensor);
    if (live != calls.tensors.end()) std::erase(live->second.calls, slot);
  }
}

Finding Begin(Part part, const char* kind, const char* api, const void* subject) {
  Finding finding;
  finding.part = part;
  finding.kind = kind;
  finding.function = api;
  finding.subject = subject;
  return finding;
}

// Checks for operands that overlap a written one without being the same view, and for addresses that come
// from no aclrtMalloc.
void CheckLayout(const char* api, const CallInSlot& in_slot, const Call& call) {
  for (size_t i = 0; i < call.operands.size(); ++i) {
    const OperandInfo& operand = call.operands[i];
    if (!in_slot.touched[i] || !operand.is_exact || operand.bytes.IsEmpty()) continue;
    const StridedBytes mine = At(operand.bytes, in_slot.addresses[i]);
    if (reinterpret_cast<uintptr_t>(in_slot.addresses[i]) % 32 != 0) {
      Finding finding = Begin(kProduct, "misaligned-tensor", api, in_slot.addresses[i]);
      finding.certainty = Certainty::kWarning;
      finding.what.Add("the data address of ");
      AddOperandName(finding.what, operand);
      finding.what.Add(", ").Add(static_cast<const void*>(in_slot.addresses[i]));
      finding.what.Add(
          ", is no multiple of 32, which aclCreateTensor asks for; products differ in what they do then");
      finding.mend.Add(
          "give the address that aclrtMalloc gave, and lead to the first element by the tensor's offset");
      const CallStack here = CallStackHere();
      finding.locations[0] = {Text(api, " was called"), &here};
      finding.locations[1] = {Text("phase 1"), &call.made};
      Report(finding);
    }
    if (!operand.writes) continue;
    for (size_t k = 0; k < call.operands.size(); ++k) {
      const OperandInfo& other = call.operands[k];
      if (k == i || !in_slot.touched[k] || !other.is_exact || (other.writes && k < i)) continue;
      const StridedBytes its = At(other.bytes, in_slot.addresses[k]);
      if (its == mine || FindOverlap(mine, its) != Overlapping::kYes) continue;
      Finding finding =
          Begin(kProduct, "overlapping-operands", api, reinterpret_cast<const void*>(mine.begin));
      finding.certainty = Certainty::kWarning;
      finding.what.Add("the output ");
      AddOperandName(finding.what, operand);
      finding.what.Add(" shares bytes with ");
      AddOperandName(finding.what, other);
      finding.what.Add(
          " without being the same view, which is undefined on an NPU: what is read may be overwritten by "
          "then");
      finding.mend.Add("write to other memory, or to exactly the view that is read");
      const CallStack here = CallStackHere();
      finding.locations[0] = {Text(api, " was called"), &here};
      finding.locations[1] = {Text("phase 1"), &call.made};
      Report(finding);
    }
  }
}

}  // namespace

void TensorMade(const char* api, const aclTensor* tensor) noexcept {
  const CallStack here = CallStackHere();
  Calls& calls = TheCalls();
  std::lock_guard lock(calls.mutex);
  calls.gone_tensors.Remove(tensor);
  calls.tensors[tensor] = {api, here, {}};
}

void TensorChanged(const char* api, const aclTensor* tensor) noexcept {
  Calls& calls = TheCalls();
  const CallStack here = HereIfAwaited(calls, tensor);
  std::lock_guard lock(calls.mutex);
  const auto live = calls.tensors.find(tensor);
  if (live != calls.tensors.end()) DisturbLocked(calls, api, live->second, tensor, here);
}

bool TensorGoes(const char* api, const aclTensor* tensor) noexcept {
  if (tensor == nullptr) return true;
  Gone gone;
  {
    Calls& calls = TheCalls();
    const CallStack here = HereIfAwaited(calls, tensor);
    std::lock_guard lock(calls.mutex);
    const auto live = calls.tensors.find(tensor);
    if (live != calls.tensors.end()) {
      DisturbLocked(calls, api, live->second, tensor, here);
      calls.gone_tensors.Add(tensor, api, live->second.made);
      calls.tensors.erase(live);
      return true;
    }
    const Gone* const found = calls.gone_tensors.Find(tensor);
    if (found == nullptr) return true;
    gone = *found;
  }
  const CallStack here = CallStackHere();
  Finding finding = Begin(kHandles, "tensor-destroyed-twice", api, tensor);
  finding.what.Add("the tensor ")
      .Add(static_cast<const void*>(tensor))
      .Add(" was destroyed already, by ")
      .Add(gone.api);
  finding.mend.Add("destroy it once; aclDestroyTensorList destroys the tensors of the list");
  finding.locations[0] = {Text(api, " was called"), &here};
  finding.locations[1] = {Text("it was made"), &gone.made};
  Report(finding);
  return !IsOn(kHandles);
}

void Phase1Ends(const void* slot, const char* api, const aclOpExecutor* handle,
                std::vector<OperandInfo> operands) noexcept {
  const CallStack here = CallStackHere();
  Calls& calls = TheCalls();
  std::lock_guard lock(calls.mutex);
  for (const OperandInfo& operand : operands) {
    const auto live = calls.tensors.find(operand.tensor);
    if (live != calls.tensors.end()) live->second.calls.push_back(slot);
  }
  Call& call = calls.by_slot[slot];
  call = {};
  call.operands = std::move(operands);
  call.api = api;
  call.handle = handle;
  call.made = here;
}

void Phase2Begins(const char* api, const CallInSlot& in_slot, const void* workspace,
                  uint64_t workspace_size) noexcept {
  Call call;
  {
    Calls& calls = TheCalls();
    std::lock_guard lock(calls.mutex);
    const auto found = calls.by_slot.find(in_slot.slot);
    if (found == calls.by_slot.end()) return;
    call = found->second;
    if (!in_slot.repeatable) {
      calls.gone_executors.Add(call.handle, api, call.made);
      found->second.handle = nullptr;
    }
  }
  if (call.disturbed_by != nullptr) {
    const CallStack here = CallStackHere();
    const bool is_gone = std::strncmp(call.disturbed_by, "aclDestroy", 10) == 0;
    Finding finding =
        Begin(kHandles, is_gone ? "tensor-destroyed-between-phases" : "tensor-changed-between-phases", api,
              call.operands[call.disturbed].tensor);
    // A warning, since nothing tells which tensors a repeatable executor still needs.
    if (in_slot.repeatable) finding.certainty = Certainty::kWarning;
    finding.what.Add(call.disturbed_by)
        .Add(is_gone ? " destroyed the tensor of " : " changed the tensor of ");
    AddOperandName(finding.what, call.operands[call.disturbed]);
    finding.what.Add(" after ").Add(call.api).Add("GetWorkspaceSize and before ").Add(api);
    finding.what.Add(in_slot.repeatable
                         ? "; whether a repeatable executor still needs it depends on the version"
                         : ", which still needs it on an NPU");
    finding.mend.Add(is_gone ? "destroy tensors when phase 2 has returned; their memory when its work is done"
                             : "change a tensor before phase 1 or after phase 2, or use aclSetTensorAddr");
    finding.locations[0] = {Text(api, " was called"), &here};
    finding.locations[1] = {Text(call.disturbed_by, " was called"), &call.disturbance};
    finding.locations[2] = {Text("phase 1"), &call.made};
    Report(finding);
  }
  if (workspace != nullptr && workspace_size < in_slot.workspace_size) {
    const CallStack here = CallStackHere();
    Finding finding = Begin(kHandles, "workspace-too-small", api, workspace);
    finding.what.Add("the workspace has ").Add(workspace_size).Add(" bytes and phase 1 asked for ");
    finding.what.Add(in_slot.workspace_size).Add("; an NPU does not check this and writes past its end");
    finding.mend.Add("allocate and give as many bytes as phase 1 says, anew for every call");
    finding.locations[0] = {Text(api, " was called"), &here};
    finding.locations[1] = {Text("phase 1"), &call.made};
    Report(finding);
  }
  if (IsOn(kProduct) && in_slot.runs) CheckLayout(api, in_slot, call);
}

void Phase2FindsNone(const char* api, const aclOpExecutor* handle) noexcept {
  Gone gone;
  {
    Calls& calls = TheCalls();
    std::lock_guard lock(calls.mutex);
    const Gone* const found = calls.gone_executors.Find(handle);
    if (found == nullptr) return;
    gone = *found;
  }
  const CallStack here = CallStackHere();
  Finding finding = Begin(kHandles, "executor-used-twice", api, handle);
  finding.what.Add("the executor ").Add(static_cast<const void*>(handle)).Add(" was used up already, by ");
  finding.what.Add(gone.api).Add("; on an NPU that is a use after free");
  finding.mend.Add(
      "call phase 1 again for every phase 2, or make the executor repeatable "
      "(aclSetAclOpExecutorRepeatable)");
  finding.locations[0] = {Text(api, " was called"), &here};
  finding.locations[1] = {Text("phase 1"), &gone.made};
  Report(finding);
}

void CallIsCopied(const void* from, const void* to) noexcept {
  Calls& calls = TheCalls();
  std::lock_guard lock(calls.mutex);
  const auto found = calls.by_slot.find(from);
  if (found == calls.by_slot.end()) return;
  Call copy = found->second;
  copy.handle = nullptr;
  calls.by_slot[to] = std::move(copy);
}

std::vector<Access> AccessesOf(const CallInSlot& call) noexcept {
  std::vector<Access> accesses;
  Calls& calls = TheCalls();
  std::lock_guard lock(calls.mutex);
  const auto found = calls.by_slot.find(call.slot);
  if (found == calls.by_slot.end()) return accesses;
  for (size_t i = 0; i < found->second.operands.size(); ++i) {
    const OperandInfo& operand = found->second.operands[i];
    if (!call.touched[i] || !operand.is_exact || operand.bytes.IsEmpty()) continue;
    accesses.push_back({.bytes = At(operand.bytes, call.addresses[i]),
                        .writes = operand.writes,
                        .is_partial = operand.is_partial,
                        .role = operand.name});
  }
  if (call.workspace != nullptr && call.workspace_size > 0) {
    accesses.push_back({.bytes = StridedBytes::Run(call.workspace, call.workspace_size),
                        .writes = true,
                        .role = "workspace"});
  }
  return accesses;
}

void CallGoes(const void* slot) noexcept {
  Calls& calls = TheCalls();
  std::lock_guard lock(calls.mutex);
  const auto found = calls.by_slot.find(slot);
  if (found == calls.by_slot.end()) return;
  ForgetLocked(calls, slot, found->second);
  calls.by_slot.erase(found);
}

void TellCallsLeft() noexcept {
  Calls& calls = TheCalls();
  std::unique_lock lock(calls.mutex);
  const auto by_slot = calls.by_slot;
  const auto tensors = calls.tensors;
  lock.unlock();  // a report takes other locks
  for (const auto& [slot, call] : by_slot) {
    if (call.handle == nullptr || call.made.line_count > 0) continue;
    Finding finding = Begin(kHandles, "executor-leaked", "aclFinalize", call.handle);
    finding.certainty = Certainty::kWarning;
    finding.what.Add("an executor of ").Add(call.api).Add("GetWorkspaceSize is still there");
    finding.mend.Add("call phase 2 with it, or aclDestroyAclOpExecutor");
    finding.locations[0] = {Text("it was made"), &call.made};
    Report(finding);
  }
  for (const auto& [tensor, live] : tensors) {
    if (live.made.line_count > 0) continue;
    Finding finding = Begin(kHandles, "tensor-leaked", "aclFinalize", tensor);
    finding.certainty = Certainty::kWarning;
    finding.what.Add("the tensor ").Add(static_cast<const void*>(tensor)).Add(" is still there");
    finding.mend.Add("call aclDestroyTensor, or aclDestroyTensorList for a list and its tensors");
    finding.locations[0] = {Text(live.api, " made it"), &live.made};
    Report(finding);
  }
}

}  // namespace portacl::sanitizer
