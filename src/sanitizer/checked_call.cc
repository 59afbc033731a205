// Checks what operators read and write (see checked_call.h).
// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/checked_call.h"

#include <mutex>
#include <unordered_map>
#include <utility>

#include "aclnn/byte_runs.h"
#include "base/process/fork.h"
#include "base/process/immortal.h"
#include "sanitizer/copies.h"
#include "sanitizer/device_memory.h"
#include "sanitizer/report.h"

namespace portacl {
namespace {

// Notes are kept beside the executors, so that an executor of an unchecked program carries none.
struct Notes {
  std::mutex mutex;
  std::unordered_map<const void*, std::shared_ptr<CheckedCall>> calls;
};

Notes& TheNotes() {
  static Immortal<Notes> notes;
  static const bool guarded = GuardAcrossFork(notes->mutex, ForkRank::kCheckedNotes);
  (void)guarded;
  return *notes;
}

// Prints an operand's name: self, or tensors[3] for a list's entry.
Text NameOf(const CheckedOperand& operand) noexcept {
  Text name(operand.name);
  if (operand.entry >= 0) name.Add('[').Add(operand.entry).Add(']');
  return name;
}

void ReportUnwritten(const CheckedCall& call, const CheckedOperand& operand, const void* at) noexcept {
  sanitizer::Block block;
  sanitizer::Finding finding;
  const bool moves = operand.access == Access::kMoves;
  finding.part = sanitizer::kInit;
  finding.kind = moves ? "uninitialised-copy" : "uninitialised-read";
  finding.certainty = moves ? sanitizer::Certainty::kWarning : sanitizer::Certainty::kError;
  finding.function = call.api;
  finding.subject = at;
  finding.what = Text("parameter ", NameOf(operand).view(), " is read, but nothing was written to ", at);
  finding.places[0] = {Text("the call"), &call.phase2};
  if (sanitizer::FindBlock(at, &block)) {
    finding.what.Add(", byte ")
        .Add(reinterpret_cast<uintptr_t>(at) - block.begin)
        .Add(" of ")
        .Add(block.size);
    finding.what.Add(" bytes of device memory from ").Add(block.maker);
    finding.places[1] = {Text("the memory was made by ", block.maker), &block.made};
  }
  finding.what.Add(moves ? "; it matters where what was copied is computed with." : ".");
  finding.mend = Text(
      "write it first: aclrtMemcpy, aclrtMemset or an operator; in PyTorch, torch.empty gives memory without "
      "values, torch.zeros with.");
  sanitizer::Report(finding);
}

template <class Run>
void ForEachRange(const ExecutorView& executor, int operand, const CheckedOperand& of, const Run& run) {
  auto* const base = static_cast<char*>(executor.addresses[operand]);
  if (base == nullptr || !sanitizer::IsInDeviceRange(base)) return;
  ForEachRun(of.view,
             [&](int64_t first, int64_t bytes) { return run(base + first, static_cast<size_t>(bytes)); });
}

}  // namespace

CheckedOperand OperandOf(const char* api, const char* parameter, int entry, const aclTensor* tensor,
                         bool is_input, bool is_result) noexcept {
  CheckedOperand operand;
  operand.name = parameter;
  operand.entry = entry;
  operand.access = AccessOf(api, parameter, is_result && is_input);
  operand.is_read = is_input && operand.access != Access::kWritesOnly;
  operand.is_written = is_result || !is_input || WritesInputs(api);
  if (tensor != nullptr) {
    operand.view = *tensor;
  } else {
    operand.view.numel = 0;
  }
  return operand;
}

void NoteOperands(const void* executor, const char* api, std::vector<CheckedOperand> operands) noexcept {
  try {
    auto call = std::make_shared<CheckedCall>();
    call->api = api;
    call->operands = std::move(operands);
    Notes& notes = TheNotes();
    std::lock_guard lock(notes.mutex);
    notes.calls[executor] = std::move(call);
  } catch (...) {
    // without memory the call is not checked
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
    // without memory the call is not checked
  }
}

void ForgetNotes(const void* executor) noexcept {
  Notes& notes = TheNotes();
  std::shared_ptr<CheckedCall> last;
  {
    std::lock_guard lock(notes.mutex);
    const auto found = notes.calls.find(executor);
    if (found == notes.calls.end()) return;
    last = std::move(found->second);
    notes.calls.erase(found);
  }
  sanitizer::EndWork(last->work);
}

void StartWork(const void* executor) noexcept {
  if (const auto call = NotesOf(executor)) call->work = sanitizer::BeginWork();
}

std::shared_ptr<CheckedCall> NotesOf(const void* executor) noexcept {
  Notes& notes = TheNotes();
  std::lock_guard lock(notes.mutex);
  const auto found = notes.calls.find(executor);
  return found == notes.calls.end() ? nullptr : found->second;
}

void CheckLaunch(const ExecutorView& executor) noexcept {
  const auto call = NotesOf(executor.executor);
  if (call == nullptr) return;
  sanitizer::Capture(&call->phase2);
  if (!sanitizer::IsOn(sanitizer::kMemory)) return;
  for (int i = 0; i < executor.operand_count; ++i) {
    const CheckedOperand& operand = call->operands[static_cast<size_t>(i)];
    const int64_t bits = StorageBits(operand.view.dtype);
    int64_t lowest = 0;
    int64_t highest = 0;
    if (!executor.touched[i] || executor.addresses[i] == nullptr || bits == 0 || operand.view.numel == 0 ||
        IsPrivateFormat(operand.view.format) || !ReachOf(operand.view, &lowest, &highest)) {
      continue;
    }
    // The first and the last element are touched, so their allocation must be alive.
    const auto* const base = static_cast<const char*>(executor.addresses[i]);
    const int64_t first = lowest * bits / 8;
    const int64_t end = ((highest + 1) * bits + 7) / 8;
    sanitizer::CheckOperand(call->api, NameOf(operand).c_str(), base + first,
                            static_cast<size_t>(end - first));
  }
  if (executor.workspace_size > 0) {
    sanitizer::CheckOperand(call->api, "workspace", executor.workspace, executor.workspace_size);
  }
}

void* BeforeWork(const ExecutorView& executor) noexcept {
  if (const auto call = sanitizer::IsOn(sanitizer::kInit) ? NotesOf(executor.executor) : nullptr) {
    for (int i = 0; i < executor.operand_count; ++i) {
      const CheckedOperand& operand = call->operands[static_cast<size_t>(i)];
      if (!executor.touched[i] || !operand.is_read || operand.access == Access::kPartly) continue;
      ForEachRange(executor, i, operand, [&](const char* address, size_t bytes) {
        const void* const at = sanitizer::FirstUnwritten(address, bytes);
        if (at != nullptr) ReportUnwritten(*call, operand, at);
        return at == nullptr;
      });
    }
    sanitizer::Block block;
    if (executor.workspace_size > 0 && sanitizer::FindBlock(executor.workspace, &block) && !block.is_freed) {
      const size_t room = block.begin + block.size - reinterpret_cast<uintptr_t>(executor.workspace);
      if (executor.workspace_size <= room) {
        sanitizer::FillUnwritten(executor.workspace, executor.workspace_size);
      }
    }
    // Replaces the addresses only here. The work needs the replaced addresses; every earlier step of phase 2
    // needs the caller's.
    for (int i = 0; i < executor.operand_count; ++i) {
      const CheckedOperand& operand = call->operands[static_cast<size_t>(i)];
      const bool is_told = operand.is_read && operand.access == Access::kReads;
      if (!executor.touched[i] || !(operand.is_written || is_told)) continue;
      ForEachRange(executor, i, operand, [](const char* address, size_t bytes) {
        sanitizer::MarkWritten(address, bytes);
        return true;
      });
    }
  }
  for (int i = 0; i < executor.operand_count; ++i)
    executor.addresses[i] = sanitizer::Working(executor.addresses[i]);
  return sanitizer::Working(executor.workspace);
}

}  // namespace portacl
