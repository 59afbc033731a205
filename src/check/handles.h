// What a program has made and not ended yet, and threads that work without a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "check/settings.h"

namespace portacl::sanitizer {

// Every function is for callers that have asked IsOn(kHandles). `what`, as "a stream", and `mend`, the function that ends it, are static.
void HandleMade(const char* what, const char* mend, const char* api, const void* handle) noexcept;
void HandleGoes(const void* handle) noexcept;

// The thread has no device, so the call fails. `is_set_elsewhere`: some thread has one.
void NoDevice(const char* api, bool is_set_elsewhere) noexcept;

// An operator in a stream of one device is given another device's memory.
void MemoryOfAnotherDevice(const char* api, const char* operand, const void* address, int of_memory,
                           int of_stream) noexcept;

// aclFinalize: what is still there.
void TellHandlesLeft() noexcept;

}  // namespace portacl::sanitizer
