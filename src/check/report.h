// Findings of a checked program: what is said about each, and how they are collected, suppressed and written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/text.h"
#include "check/call_stack.h"
#include "check/settings.h"

namespace portacl::sanitizer {

// The exit code of a program that was ended at a finding, or that ends with findings collected. Warnings change no code.
inline constexpr int kExitCode = 86;

enum class Certainty {
  kError,   // wrong on every NPU
  kWarning  // it depends on the product or on timing, and the message says so
};

// A place that belongs to a finding, such as "the memory was made by aclrtMalloc". Empty stacks are left out.
struct RelatedPlace {
  Text label;
  const CallStack* stack = nullptr;
};

struct Finding {
  Part part = kMemory;
  const char* kind = "";  // its name in suppressions and JSON, such as host-access
  Certainty certainty = Certainty::kError;
  const char* function = "";      // the public function in which it showed
  const void* subject = nullptr;  // address or handle
  Text what;                      // one sentence
  Text mend;                      // one sentence: what to do instead
  static constexpr int kMostPlaces = 3;
  RelatedPlace places[kMostPlaces];  // the first is where it happened
};

// Tells of it: stops the program with kExitCode, or collects it, once for each kind, function and place. A finding that a
// suppression names, or of a part that is not in force, is dropped. Takes a lock of its own and calls nothing of the runtime, so
// callers may hold any of its locks.
void Report(const Finding& finding) noexcept;

// The same from a handler of a signal: the program's threads may be anywhere.
void ReportFromSignal(const Finding& finding) noexcept;

// How many errors, or warnings, were collected until now, each once.
int CountOf(Certainty certainty) noexcept;

// Reads where findings go, and what is suppressed; before any is reported.
void StartReports(bool stops) noexcept;

// Whether the kind, the function or a line of a call stack is what a line of a file of suppressions names: PATTERN or
// KIND:PATTERN, with * and ? as in file names; # begins a comment. The pattern is that of a function's whole name.
bool IsSuppressedBy(const char* line, const char* kind, const char* symbol) noexcept;

}  // namespace portacl::sanitizer
