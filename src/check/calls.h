// What is kept of tensors and of calls between their phases while programs are checked: who made them, what was done to them, and
// which bytes a call touches.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "check/happens_before.h"
#include "check/settings.h"

struct aclTensor;
struct aclOpExecutor;

namespace portacl::sanitizer {

// Whether anything of this is wanted.
inline bool KeepsCalls() noexcept {
  return __builtin_expect((parts_in_force & (kHandles | kProduct | kSync | kInit)) != 0, 0);
}

// A tensor was made, its address or shape was set anew by `api`, it is about to go. False when it is gone already: then
// it must not be touched.
void TensorMade(const char* api, const aclTensor* tensor) noexcept;
void TensorChanged(const char* api, const aclTensor* tensor) noexcept;
bool TensorGoes(const char* api, const aclTensor* tensor) noexcept;

// One tensor of a call.
struct OperandFacts {
  const char* name = "";  // static
  int entry = -1;         // of a list
  bool writes = false;
  bool is_partial = false;  // the operator reads a part of it, as its values or attributes say
  StridedBytes bytes;       // behind the address
  bool is_exact = false;    // else the bytes are not known
  const aclTensor* tensor = nullptr;
};

// An executor's slot, and what phase 2 finds in it.
struct CallInSlot {
  const void* slot;
  const char* api;
  void* const* addresses;  // of its operands
  const bool* touched;
  const void* workspace;
  uint64_t workspace_size;  // that phase 1 asked for
  bool repeatable;
  bool runs;  // there is something to compute
};

// The end of phase 1.
void Phase1Ends(const void* slot, const char* api, const aclOpExecutor* handle,
                std::vector<OperandFacts> operands) noexcept;
// Phase 2 has found the executor of a handle, and was given that workspace; or none.
void Phase2Begins(const char* api, const CallInSlot& in_slot, const void* workspace,
                  uint64_t workspace_size) noexcept;
void Phase2FindsNone(const char* api, const aclOpExecutor* handle) noexcept;
// A copy for one more run of a repeatable one.
void CallIsCopied(const void* from, const void* to) noexcept;
// What it is about to touch, with the addresses that are set in it.
std::vector<Access> AccessesOf(const CallInSlot& call) noexcept;
// The slot is free.
void CallGoes(const void* slot) noexcept;

// aclFinalize: what is still alive.
void TellCallsLeft() noexcept;

}  // namespace portacl::sanitizer
