// What the runtime tells of work, waiting and memory, so that missing synchronisation is found (happens_before.h orders it).
// Every function is for callers that have asked IsOn(kSync).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "check/happens_before.h"
#include "check/settings.h"

namespace portacl::sanitizer {

// A stream as messages name it. `slot` is what it is known by.
struct StreamName {
  const void* slot = nullptr;
  const void* handle = nullptr;
  int32_t id = 0;
  bool is_default = false;
};

enum class Waits {
  kForStreams,   // at most for what streams do
  kForAnything,  // also for what the host does meanwhile, so that work behind it may be ordered after that
};

// A task, which the address names, is about to be queued by this thread.
void Queue(const void* task, const char* api, const StreamName& stream, std::vector<Access> accesses,
           Waits waits = Waits::kForStreams) noexcept;
// Its stream comes to it; it is done, or dropped. Tasks that were not told of are passed over.
void Begin(const void* task) noexcept;
void End(const void* task) noexcept;

// A moment in a stream that others wait for.
struct Signal {
  ClockPointer clock;  // null until the stream came to it
};
using SignalPointer = std::shared_ptr<Signal>;
SignalPointer NewSignal() noexcept;
// The stream has come to it. What was signalled before stays so: whoever waits may mean any of it.
void Raise(const SignalPointer& signal, const void* stream) noexcept;
// What the stream does from now on comes behind it.
void StreamWaits(const void* stream, const SignalPointer& signal) noexcept;
// The same behind all that was done anywhere.
void StreamWaitsForAll(const void* stream) noexcept;

// The host has waited for all that the stream has done, or for a signal.
void HostWaited(const void* stream) noexcept;
void HostWaited(const SignalPointer& signal) noexcept;

// A function of the program begins that a stream has come to, and ends; the stream goes on then. The host knows from its
// running that what was before it is done.
void HostFunctionEnds(const void* stream) noexcept;

// The calling thread itself reads or writes, at once; or frees memory.
void HostTouches(const char* api, const std::vector<Access>& accesses) noexcept;
void HostFrees(const char* api, const void* address, size_t size) noexcept;

// What a copy of rows touches; without `from` it fills them.
std::vector<Access> AccessesOfCopy(const void* to, size_t to_pitch, const void* from, size_t from_pitch,
                                   size_t width, size_t height) noexcept;

// In which allocation an address lies, 0 in none that is known. To be called before memory is made; any number of times.
void UseBlocks(uintptr_t (*block_of)(uintptr_t)) noexcept;

// Work that a thread has queued waits until somebody wants what it does, or for some milliseconds: what was not waited for is
// then really not there. A stream is held when it becomes ready.
void Hold(const void* stream) noexcept;
void AwaitWanted(const void* stream) noexcept;
void Want(const void* stream) noexcept;
void WantAll() noexcept;

}  // namespace portacl::sanitizer
