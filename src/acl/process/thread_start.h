// The library's own threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// What they have at least, however small the program's own threads are (ulimit -s, pthread_setattr_default_np): operators
// take less than 128 KiB (docs/runtime.md), host functions are the program's.
inline constexpr size_t kLeastStack = size_t{1} << 20;

// Starts a thread that nobody waits for: signals are for the program's own threads, so it blocks them all, but those of its own
// faults, which handlers of the program's or of the checks may want to see. False when there is none to be had.
bool StartThread(void* (*body)(void*), void* argument = nullptr) noexcept;

}  // namespace portacl
