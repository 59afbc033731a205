// Findings in a checked program: their content, and how they are collected, suppressed and written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/call_stack.h"
#include "base/text.h"
#include "sanitizer/settings.h"

namespace portacl::sanitizer {

// The exit code of a program that is stopped at a finding, or that ends with collected errors. Warnings do
// not change the exit code.
inline constexpr int kExitCode = 86;

enum class Certainty {
  kError,   // wrong on every NPU
  kWarning  // depends on the product or on timing, as the message says
};

// A code position related to a finding, such as "the memory was made by aclrtMalloc". Empty stacks are
// omitted.
struct RelatedLocation {
  Text label;
  const CallStack* stack = nullptr;
};

struct Finding {
  Part part = kMemory;
  const char* kind = "";  // as in suppressions and JSON, such as host-access
  Certainty certainty = Certainty::kError;
  const char* function = "";      // the public function that detected it
  const void* subject = nullptr;  // address or handle
  Text what;                      // one sentence
  Text mend;                      // one sentence: what to do instead
  static constexpr int kMostLocations = 3;
  RelatedLocation locations[kMostLocations];  // the first is where it happened
};

// Reports a finding: stops the program with kExitCode, or collects it, once for each kind, function and call
// stack. A finding that is suppressed, or whose part is not in force, is dropped. Uses its own lock and calls
// nothing of the runtime, so that callers may hold any of the runtime's locks.
void Report(const Finding& finding) noexcept;

// Reports from a signal handler, where the program's threads may be in any state.
void ReportFromSignal(const Finding& finding) noexcept;

// Returns how many errors, or warnings, have been collected, each counted once.
int CountOf(Certainty certainty) noexcept;

// Reads the destination of findings and the suppressions. Call it before the first report.
void StartReports(bool stops) noexcept;

// Tells whether a line of a suppressions file matches the kind, the function or a line of a call stack. A line is
// PATTERN or KIND:PATTERN, with * and ? as in file names; # begins a comment. The pattern must match a
// function's whole name.
bool IsSuppressedBy(const char* line, const char* kind, const char* symbol) noexcept;

}  // namespace portacl::sanitizer
