// Checks what operators read and write (see checked_call.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/checked_call.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "sanitizer/copies.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/report.h"

namespace portacl::sanitizer {
namespace {

// The operands of a call. Shared by the slot's entry and the functions that check its work.
struct CheckedCall {
  const char* api = "";
  CallStack phase2;
  uint64_t work = 0;  // returned by BeginWork; 0 before the submission
  std::vector<OperandInfo> operands;
};

// Notes are kept beside the executors, so that an executor of an unchecked program carries none.
struct Notes {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<CheckedCall>> calls;
};

Notes& TheNotes() {
  static NoDestructor<Notes> notes;
  static const bool guarded = GuardAcrossFork(notes->mutex, ForkRank::kCheckedNotes);
  (void)guarded;
  return *notes;
}

// Prints an operand's name: self, or tensors[3] for a list's entry.
Text NameOf(const OperandInfo& operand) noexcept {
  Text name(operand.name);
  if (operand.entry >= 0) name.Add('[').Add(operand.entry).Add(']');
  return name;
}

void ReportUnwritten(const CheckedCall& call, const OperandInfo& operand, const void* at) noexcept {
  Block block;
  Finding finding;
  const bool moves = operand.use == OperandUse::kMoves;
  finding.part = kInit;
  finding.kind = moves ? "uninitialised-copy" : "uninitialised-read";
  finding.certainty = moves ? Certainty::kWarning : Certainty::kError;
  finding.function = call.api;
  finding.subject = at;
  finding.what = Text("parameter ", NameOf(operand).view(), " is read, but nothing was written to ", at);
  finding.locations[0] = {Text("the call"), &call.phase2};
  if (FindBlock(at, &block)) {
    finding.what.Add(", byte ")
        .Add(reinterpret_cast<uintptr_t>(at) - block.begin)
        .Add(" of ")
        .Add(block.size);
    finding.what.Add(" bytes of device memory from ").Add(block.maker);
    finding.locations[1] = {Text("the memory was made by ", block.maker), &block.made};
  }
  finding.what.Add(moves ? "; it matters where what was copied is computed with." : ".");
  finding.mend = Text(
      "write it first: aclrtMemcpy, aclrtMemset or an operator; in PyTorch, torch.empty gives memory without "
      "values, torch.zeros with.");
  Report(finding);
}

template <class Visit>
void ForEachRange(const CallInSlot& call, int index, const OperandInfo& operand, const Visit& visit) {
  auto* const base = static_cast<char*>(call.addresses[index]);
  if (base == nullptr || !IsInDeviceRange(base) || !operand.is_complete) return;
  ForEachRun(operand.bytes, [&](uintptr_t first, size_t bytes) { return visit(base + first, bytes); });
}

// Returns the operands of a slot, or nullptr if there was no memory for them.
std::shared_ptr<CheckedCall> NotesOf(const void* slot) noexcept {
  Notes& notes = TheNotes();
  std::lock_guard lock(notes.mutex);
  const auto found = notes.calls.find(slot);
  return found == notes.calls.end() ? nullptr : found->second;
}

}  // namespace

void NoteOperands(const void* slot, const char* api, std::vector<OperandInfo> operands) noexcept {
  try {
    auto call = std::make_shared<CheckedCall>();
    call->api = api;
    call->operands = std::move(operands);
    Notes& notes = TheNotes();
    std::lock_guard lock(notes.mutex);
    notes.calls[slot] = std::move(call);
  } catch (...) {
    // A call is not checked if memory runs out.
  }
}

void CopyNotes(const void* from, const void* to) noexcept {
  const auto call = NotesOf(from);
  if (call == nullptr) return;
  try {
    auto copy = std::make_shared<CheckedCall>(*call);
    Notes& notes = TheNotes();
    std::lock_guard lock(notes.mutex);
    notes.calls[to] = std::move(copy);
  } catch (...) {
    // A call is not checked if memory runs out.
  }
}

void ForgetNotes(const void* slot) noexcept {
  Notes& notes = TheNotes();
  std::shared_ptr<CheckedCall> last;
  {
    std::lock_guard lock(notes.mutex);
    const auto found = notes.calls.find(slot);
    if (found == notes.calls.end()) return;
    last = std::move(found->second);
    notes.calls.erase(found);
  }
  EndWork(last->work);
}

void StartWork(const void* slot) noexcept {
  if (const auto call = NotesOf(slot)) call->work = BeginWork();
}

void CheckLaunch(const CallInSlot& slot) noexcept {
  const auto call = NotesOf(slot.slot);
  if (call == nullptr) return;
  TakeCallStack(&call->phase2);
  if (!IsOn(kMemory)) return;
  for (int i = 0; i < slot.operand_count; ++i) {
    const OperandInfo& operand = call->operands[static_cast<size_t>(i)];
    const StridedBytes& bytes = operand.bytes;
    if (!slot.touched[i] || slot.addresses[i] == nullptr || bytes.IsEmpty()) continue;
    // The first and the last element are touched, so their allocation must be alive.
    CheckOperand(call->api, NameOf(operand).c_str(),
                 static_cast<const char*>(slot.addresses[i]) + bytes.begin, bytes.End() - bytes.begin);
  }
  if (slot.workspace_size > 0) {
    CheckOperand(call->api, "workspace", slot.workspace, slot.workspace_size);
  }
}

void* BeforeWork(const CallInSlot& slot) noexcept {
  if (const auto call = IsOn(kInit) ? NotesOf(slot.slot) : nullptr) {
    for (int i = 0; i < slot.operand_count; ++i) {
      const OperandInfo& operand = call->operands[static_cast<size_t>(i)];
      if (!slot.touched[i] || !operand.is_read || operand.use == OperandUse::kPartly) continue;
      ForEachRange(slot, i, operand, [&](const char* address, size_t bytes) {
        const void* const at = FirstUnwritten(address, bytes);
        if (at != nullptr) ReportUnwritten(*call, operand, at);
        return at == nullptr;
      });
    }
    Block block;
    if (slot.workspace_size > 0 && FindBlock(slot.workspace, &block) && !block.is_freed) {
      const size_t room = block.begin + block.size - reinterpret_cast<uintptr_t>(slot.workspace);
      if (slot.workspace_size <= room) {
        FillUnwritten(slot.workspace, slot.workspace_size);
      }
    }
    // Replaces the addresses only here. The work needs the replaced addresses; every earlier step of phase 2
    // needs the caller's.
    for (int i = 0; i < slot.operand_count; ++i) {
      const OperandInfo& operand = call->operands[static_cast<size_t>(i)];
      const bool is_told = operand.is_read && operand.use == OperandUse::kReads;
      if (!slot.touched[i] || !(operand.is_written || is_told)) continue;
      ForEachRange(slot, i, operand, [](const char* address, size_t bytes) {
        MarkWritten(address, bytes);
        return true;
      });
    }
  }
  for (int i = 0; i < slot.operand_count; ++i) slot.addresses[i] = Working(slot.addresses[i]);
  return Working(slot.workspace);
}

}  // namespace portacl::sanitizer
