// The times that a program sets for all of its streams: how long an operator may take, and a wait for an
// event.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl {

// Microseconds that an operator may take; 0: as long as it wants.
int64_t ExecutionTimeout() noexcept;

// Milliseconds that a stream waits for an event unless the call says otherwise; -1: for ever.
int32_t WaitTimeout() noexcept;

}  // namespace portacl
