// The file that a process records its calls into: frames, each whole when it has been written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "check/call_stack.h"
#include "record/blake2b.h"

namespace portacl::record {

// Opens the file if it is not open. False where nothing can be recorded: the log says why, and recording is off from then on.
bool OpenRecording() noexcept;

// The functions below throw std::bad_alloc, and write nothing where recording is off.

// The number by which calls name a call stack, which is written once; -1: none.
int StackNumber(const sanitizer::CallStack& stack);

// The number of the memory at an address: tensors with the same one are views of one memory.
int StorageNumber(const void* address);

// Whether all elements of a tensor of so many bytes are to be kept: what the settings say, and what is left of the limit.
bool KeepsWhole(size_t bytes);

// Writes contents, once for all that are the same, and returns the name by which calls find them.
std::string WriteContents(std::string_view bytes);

// Writes a call: JSON without its index and its opening brace.
void WriteCall(std::string_view json);

}  // namespace portacl::record
