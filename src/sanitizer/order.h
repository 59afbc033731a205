// Receives the runtime's notifications about work, waiting and memory, and finds missing synchronisation
// (happens_before.h orders the work). Callers of every function have tested IsOn(kSync).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/sanitizer_hooks.h"

namespace portacl::sanitizer {

// Notes that this thread is about to queue a task, which its address identifies.
void Queue(const void* task, const char* api, const StreamName& stream, std::vector<Access> accesses,
           Waits waits) noexcept;
// The task's stream reaches it; it is done or dropped. Unknown tasks are ignored.
void Begin(const void* task) noexcept;
void End(const void* task) noexcept;

// Returns a new signal, not yet raised.
SignalPointer NewSignal() noexcept;
// The stream has reached the signal. Earlier raises stay valid, since a waiter may mean any of them.
void Raise(const SignalPointer& signal, const void* stream) noexcept;
// Orders the stream's further work after the signal.
void StreamWaits(const void* stream, const SignalPointer& signal) noexcept;
// Orders the stream's further work after all work done so far anywhere.
void StreamWaitsForAll(const void* stream) noexcept;

// The host has waited for all of the stream's work, or for a signal.
void HostWaited(const void* stream) noexcept;
void HostWaited(const SignalPointer& signal) noexcept;

// A function of the program begins because a stream has reached it, and ends; then the stream continues. A
// running function tells the host that the work before it is done.
void HostFunctionEnds(const void* stream) noexcept;

// The calling thread reads or writes synchronously, or frees memory.
void HostTouches(const char* api, const std::vector<Access>& accesses) noexcept;
void HostFrees(const char* api, const void* address, size_t size) noexcept;

// Memory goes that only the library's own work has accessed, after that work.
void OwnMemoryGoes(const void* address, size_t size) noexcept;

// Delays work that a thread has queued until somebody wants its result, or for some milliseconds, so that
// effects that were not waited for are really missing. A stream is held when it becomes ready.
void Hold(const void* stream) noexcept;
void AwaitWanted(const void* stream) noexcept;
void Want(const void* stream) noexcept;
void WantAll() noexcept;

}  // namespace portacl::sanitizer
