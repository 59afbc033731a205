// The library's own threads.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// The least stack size of the library's threads, however small the program's are (ulimit -s,
// pthread_setattr_default_np). Operators take less than 128 KiB (docs/runtime.md); host functions are the
// program's.
inline constexpr size_t kLeastStack = size_t{1} << 20;

// Starts a detached thread. It blocks all signals, which belong to the program's own threads, except those of
// its own faults, which handlers of the program or of the checks may want to see. Returns false if no thread
// can be created.
bool StartThread(void* (*body)(void*), void* argument = nullptr) noexcept;

}  // namespace portacl
