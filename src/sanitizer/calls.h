// Tracks tensors, and calls between their phases, while programs are checked: their creation, changes to
// them, and the bytes that a call touches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "base/sanitizer_hooks.h"

namespace portacl::sanitizer {

// A tensor was created, was changed by `api` (address or shape), or is about to be destroyed. TensorGoes
// returns false if it is already gone and must not be touched.
void TensorMade(const char* api, const aclTensor* tensor) noexcept;
void TensorChanged(const char* api, const aclTensor* tensor) noexcept;
bool TensorGoes(const char* api, const aclTensor* tensor) noexcept;

// Called at the end of phase 1.
void Phase1Ends(const void* slot, const char* api, const aclOpExecutor* handle,
                std::vector<OperandInfo> operands) noexcept;
// Called when phase 2 has found the executor of a handle, with the workspace it was given, if any.
void Phase2Begins(const char* api, const CallInSlot& in_slot, const void* workspace,
                  uint64_t workspace_size) noexcept;
void Phase2FindsNone(const char* api, const aclOpExecutor* handle) noexcept;
// Called for a copy that is one more run of a repeatable executor.
void CallIsCopied(const void* from, const void* to) noexcept;
// Returns the memory that the call is about to access, with the addresses that are set in it.
std::vector<Access> AccessesOf(const CallInSlot& call) noexcept;
// Called when the slot is free again.
void CallGoes(const void* slot) noexcept;

// Reports objects that are still alive at aclFinalize.
void TellCallsLeft() noexcept;

}  // namespace portacl::sanitizer
