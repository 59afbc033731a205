// Tracks objects that a program has created and not yet destroyed, and threads that work without a device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sanitizer/settings.h"

namespace portacl::sanitizer {

// Callers of every function have tested IsOn(kHandles). `what`, such as "a stream", and `mend`, the function
// that ends it, are static.
void HandleMade(const char* what, const char* mend, const char* api, const void* handle) noexcept;
void HandleGoes(const void* handle) noexcept;

// Reports a call that fails because the thread has no device. `is_set_elsewhere`: some other thread has one.
void NoDevice(const char* api, bool is_set_elsewhere) noexcept;

// Reports an operator in a stream of one device that is given another device's memory.
void MemoryOfAnotherDevice(const char* api, const char* operand, const void* address, int of_memory,
                           int of_stream) noexcept;

// Reports objects that still exist at aclFinalize.
void TellHandlesLeft() noexcept;

}  // namespace portacl::sanitizer
