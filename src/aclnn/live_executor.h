// Finds executors by their handles.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnn/executor.h"

namespace portacl {

// Returns the live executor of a handle. If there is none, reports that of the function `api` and sets *status: 561103 for null,
// else 561000.
Executor* FindExecutor(const char* api, const aclOpExecutor* executor, aclnnStatus* status) noexcept;

}  // namespace portacl
