// Which parts of a program are checked: PORTACL_CHECK.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::sanitizer {

// What is looked for. A set of parts is a sum of them.
enum Part : uint32_t {
  kMemory = 1,   // host and device memory mixed up, outside an allocation, after its end
  kSync = 2,     // work that nobody waited for, races between streams
  kInit = 4,     // device memory read before it was written
  kHandles = 8,  // executors, tensors, streams and workspaces used beyond their life
  kProduct = 16  // what the product would refuse
};
inline constexpr uint32_t kAllParts = 31;

// The parts in force; 0 in nearly every process. It never changes once the library's first call has read it.
extern constinit uint32_t parts_in_force;

// Every hook asks this first, so that a program that is not checked pays for one test of a global.
inline bool IsOn() noexcept { return __builtin_expect(parts_in_force != 0, 0); }
inline bool IsOn(Part part) noexcept { return __builtin_expect((parts_in_force & part) != 0, 0); }

// Whether tensors and calls are watched between their phases.
inline bool KeepsCalls() noexcept {
  return __builtin_expect((parts_in_force & (kHandles | kProduct | kSync | kInit)) != 0, 0);
}

}  // namespace portacl::sanitizer
