// A call's arguments as a recording has them: by the names and in the order of its C function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "aclnn/executor.h"
#include "contract/checks.h"
#include "record/recorded_calls.h"

namespace portacl {

// What is known of a call at the end of its phase 1. Throws std::bad_alloc.
record::RecordedCall RecordedArguments(const OperatorCall& call, const Executor& executor);

// Whether a parameter of a function is one that it writes, in place or not, by its signature.
bool IsWritten(std::string_view api, std::string_view parameter) noexcept;

}  // namespace portacl
