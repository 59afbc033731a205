// The operands of an operator's call in a checked program, from phase 1 until the work is done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "aclnn/operand_access.h"
#include "aclnn/tensor.h"
#include "check/call_stack.h"

namespace portacl {

struct CheckedOperand {
  std::string_view name;  // of the parameter
  int entry = -1;         // in a list; -1: it is none
  aclTensor view;         // as it was in phase 1
  Access access = Access::kReads;
  bool is_read = false;  // in some part, if touched
  bool is_written = false;
};

// Shared by the executor and whoever watches its work.
struct CheckedCall {
  const char* api = "";
  sanitizer::CallStack phase2;
  uint64_t work = 0;                     // of sanitizer::BeginWork, from the submission on
  std::vector<CheckedOperand> operands;  // in the executor's order; a null tensor has no elements
};

// What an executor, which is named by its address, gives of itself.
struct ExecutorView {
  const void* executor;
  int operand_count;
  void** addresses;
  const bool* touched;
  uint64_t workspace_size;
  void* workspace;
};

// All of these are called in checked programs alone. Phase 1: what the executor's operands are, in its order.
void NoteOperands(const void* executor, const char* api, std::vector<CheckedOperand> operands) noexcept;
CheckedOperand OperandOf(const char* api, const char* parameter, int entry, const aclTensor* tensor,
                         bool is_input, bool is_result) noexcept;
// An executor takes over another one's; its slot is given back.
void CopyNotes(const void* from, const void* to) noexcept;
void ForgetNotes(const void* executor) noexcept;
// nullptr when there was no memory for it.
std::shared_ptr<CheckedCall> NotesOf(const void* executor) noexcept;

// Phase 2, in the calling thread: whether every operand's memory, and the workspace, is there and a device's.
void CheckLaunch(const ExecutorView& executor) noexcept;
// The work is about to be submitted; ForgetNotes ends it.
void StartWork(const void* executor) noexcept;
// Before the work, in stream order: what it reads was written, and what it writes is from then on. Puts the addresses at which
// the library works into the executor's, but for the workspace's, which it returns.
void* BeforeWork(const ExecutorView& executor) noexcept;

}  // namespace portacl
