// Random programs over the C API.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace portacl::testing {

// Decodes a byte string into a program and runs it; a broken promise of the library ends the process. Any byte string
// is a program, and every program is defined behaviour by the public headers: wild pointers, data races and calls
// past the end of a buffer are not made.
//
// The numbers say how much of what was tried was accepted, so that a corpus of nothing but refusals is noticed.
struct ProgramCounts {
  int64_t planned = 0;   // phases 1
  int64_t accepted = 0;  // of them
  int64_t started = 0;   // phases 2 of their executors
  int64_t done = 0;      // of them
};

ProgramCounts RunProgram(const uint8_t* data, size_t size);

}  // namespace portacl::testing
