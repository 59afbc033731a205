// The settings of checks for errors that only an NPU would not forgive: PORTACL_CHECK.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace portacl::sanitizer {

// The parts of the checks. A set of parts is a sum of them.
enum Part : uint32_t {
  kMemory = 1,   // mixing host and device memory; accesses outside an allocation or after its end
  kSync = 2,     // unsynchronised access to results, races between streams
  kInit = 4,     // device memory read before it was written
  kHandles = 8,  // executors, tensors, streams and workspaces used after their end
  kProduct = 16  // calls that the product would refuse
};
inline constexpr uint32_t kAllParts = 31;

// The parts in force; 0 in nearly every process. Never changes after the library's first call has read it.
extern constinit uint32_t parts_in_force;

// Every hook tests this first, so that a program that is not checked pays for one test of a global.
inline bool IsOn() noexcept { return __builtin_expect(parts_in_force != 0, 0); }
inline bool IsOn(Part part) noexcept { return __builtin_expect((parts_in_force & part) != 0, 0); }

struct Settings {
  uint32_t parts = 0;
  bool stops = false;  // at the first finding; else they are collected
};

// Parses 1, report, 0 and names of parts, separated by commas. Returns false for anything else.
bool ParseSettings(std::string_view text, Settings* settings) noexcept;

// Call it at the library's first call, before any other thread uses the library.
void PutInForce(const Settings& settings) noexcept;

// The accepted values of PORTACL_CHECK, for messages.
inline constexpr std::string_view kAcceptedSettings =
    "0, 1 or report, and of memory, sync, init, handles and product those that are wanted, separated by "
    "commas";

bool StopsAtFirst() noexcept;

// Returns memory, sync and so on.
const char* NameOf(Part part) noexcept;

}  // namespace portacl::sanitizer
