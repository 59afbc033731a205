// Converts a call's arguments for a recording: by the names and in the order of its C function.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "aclnn/executor.h"
#include "contract/checks.h"
#include "record/recorded_calls.h"

namespace portacl {

// Returns everything that is known of a call at the end of phase 1. Throws std::bad_alloc.
record::RecordedCall RecordedArguments(const OperatorCall& call, const Executor& executor);

}  // namespace portacl
