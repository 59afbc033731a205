// The file into which a process records its calls. It consists of frames, each of which is complete once
// written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/call_stack.h"
#include "record/blake2b.h"

namespace portacl::record {

// Opens the file unless it is open. Returns false if nothing can be recorded; the log says why, and recording
// is off from then on.
bool OpenRecording() noexcept;

// The functions below throw std::bad_alloc, and write nothing if recording is off.

// Returns the number by which calls name a call stack, which is written once, or -1.
int StackNumber(const CallStack& stack);

// Returns the number of the memory at an address; tensors with the same number are views of one memory.
int StorageNumber(const void* address);

// Tells whether to keep all elements of a tensor of `bytes` bytes, by the settings and by the rest of the limit.
bool KeepsWhole(size_t bytes);

// Writes contents, equal ones once, and returns the name by which calls refer to them.
std::string WriteContents(std::string_view bytes);

// Writes a call: JSON without its index and its opening brace.
void WriteCall(std::string_view json);

}  // namespace portacl::record
