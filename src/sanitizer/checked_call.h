// Checks the operands of an operator's call, from phase 1 until its work is done: that their memory exists, and that it was written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "base/sanitizer_hooks.h"

namespace portacl::sanitizer {

// Stores the operands of an executor's slot at the end of phase 1, in the executor's order.
void NoteOperands(const void* slot, const char* api, std::vector<OperandInfo> operands) noexcept;
// Copy the operands to another slot; forget them when the slot is freed, which ends the work.
void CopyNotes(const void* from, const void* to) noexcept;
void ForgetNotes(const void* slot) noexcept;

// Phase 2, in the calling thread: checks that the memory of every operand and the workspace exists and
// belongs to a device.
void CheckLaunch(const CallInSlot& slot) noexcept;
// Called when the work is about to be submitted.
void StartWork(const void* slot) noexcept;
// Runs before the work, in stream order. Checks that what the work reads was written, and marks what it
// writes as written. Puts the addresses that the library uses into the executor's array, except the
// workspace's, which it returns.
void* BeforeWork(const CallInSlot& slot) noexcept;

}  // namespace portacl::sanitizer
