// Operators by type name that native operators compute: which calls make one, and how they are queued.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "aclnn/acl_meta.h"
#include "aclop/named_arguments.h"
#include "aclop/named_call.h"

namespace portacl {

// One native call of an operator. Rows with the same type and counts that follow each other are the calls of
// one operator, in order.
struct NativeCall {
  std::string_view type;
  int least_inputs;
  int most_inputs;
  int outputs;
  const char* function;
  aclnnStatus (*first)(NamedArguments& call, uint64_t* size, aclOpExecutor** executor);
  aclnnStatus (*second)(void* workspace, uint64_t size, aclOpExecutor* executor, aclrtStream stream);
};

// The rows of operator_table.cc.
std::span<const NativeCall> NativeCalls() noexcept;

// Returns the calls of the first operator of this type that takes `inputs` inputs, or of the type's last operator if
// none does. Empty if no native operator computes the type.
std::span<const NativeCall> NativeCallsFor(std::string_view type, int inputs) noexcept;

// Makes the calls: first phase 1 of all of them, then phase 2 of each. So a refusal of one leaves nothing queued.
aclError RunNatively(const NamedCall& call, std::span<const NativeCall> native_calls) noexcept;

}  // namespace portacl
