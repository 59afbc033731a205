// The operands of an operator's call in a checked program, from phase 1 until the work is done.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "aclnn/tensor.h"
#include "aclnnop/operand_access.h"
#include "base/call_stack.h"

namespace portacl {

struct CheckedOperand {
  std::string_view name;  // the parameter's
  int entry = -1;         // position in a list; -1: not in a list
  aclTensor view;         // copied in phase 1
  Access access = Access::kReads;
  bool is_read = false;  // the work reads the operand, at least in part, if it touches it
  bool is_written = false;
};

// Shared by the executor and the tasks that watch its work.
struct CheckedCall {
  const char* api = "";
  sanitizer::CallStack phase2;
  uint64_t work = 0;                     // number that sanitizer::BeginWork gave; 0 before the submission
  std::vector<CheckedOperand> operands;  // in the executor's order; a null tensor has no elements
};

// The fields of an executor that the checks read. The executor's address identifies it.
struct ExecutorView {
  const void* executor;
  int operand_count;
  void** addresses;
  const bool* touched;
  uint64_t workspace_size;
  void* workspace;
};

// All of the following are called in checked programs only.
//
// Phase 1: stores the executor's operands, in its order.
void NoteOperands(const void* executor, const char* api, std::vector<CheckedOperand> operands) noexcept;
CheckedOperand OperandOf(const char* api, const char* parameter, int entry, const aclTensor* tensor,
                         bool is_input, bool is_result) noexcept;
// Copies the notes when one executor takes over another one's work, or forgets them when its slot is given
// back.
void CopyNotes(const void* from, const void* to) noexcept;
void ForgetNotes(const void* executor) noexcept;
// Returns nullptr when there was no memory for the notes.
std::shared_ptr<CheckedCall> NotesOf(const void* executor) noexcept;

// Phase 2, in the calling thread: checks that the memory of every operand and the workspace exists and
// belongs to a device.
void CheckLaunch(const ExecutorView& executor) noexcept;
// Begins the work, right before it is submitted. ForgetNotes ends it.
void StartWork(const void* executor) noexcept;
// Runs before the work, in stream order. Checks that what the work reads was written, and marks what it
// writes as written. Puts the addresses that the library uses into the executor's array, except the
// workspace's, which it returns.
void* BeforeWork(const ExecutorView& executor) noexcept;

}  // namespace portacl
