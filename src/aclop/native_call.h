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

// Returns the rows of the type, of the first counts that take as many inputs, or else of the last ones. Empty:
// no native operator computes the type.
std::span<const NativeCall> NativeCallsFor(std::string_view type, int inputs) noexcept;

// Makes the calls: the first phase of all of them, so that what one refuses leaves nothing queued, then the
// second phases.
aclError RunNatively(const NamedCall& call, std::span<const NativeCall> steps) noexcept;

}  // namespace portacl
