// Timeouts that a program sets for all of its streams: for an operator, and for a wait for an event.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl {

// Microseconds that an operator may take; 0: unlimited.
int64_t ExecutionTimeout() noexcept;

// Milliseconds that a stream waits for an event unless the call says otherwise; -1: forever.
int32_t WaitTimeout() noexcept;

}  // namespace portacl
