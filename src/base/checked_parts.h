// The kinds of checks that PORTACL_CHECK puts in force, and the test that each hook makes first.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

namespace portacl::sanitizer {

// The kinds of checks. A set of them is a bit mask.
enum Part : uint32_t {
  kMemory = 1,   // the wrong side's memory, accesses outside an allocation or after its end
  kSync = 2,     // work that nobody waited for, races between streams
  kInit = 4,     // device memory read before it was written
  kHandles = 8,  // executors, tensors, streams and workspaces used after their end
  kProduct = 16  // calls that the product would refuse
};
inline constexpr uint32_t kAllParts = 31;

// The parts in force; 0 in nearly every process. The library's first call sets it, and it never changes afterwards.
extern constinit std::atomic<uint32_t> parts_in_force;

// Acquires what was set before the parts: the hooks, and the range of device memory.
inline uint32_t PartsInForce() noexcept { return parts_in_force.load(std::memory_order_acquire); }

// Callers test this before a hook, so that a program that is not checked pays for one test of a global.
inline bool IsOn() noexcept { return __builtin_expect(PartsInForce() != 0, 0); }
inline bool IsOn(Part part) noexcept { return __builtin_expect((PartsInForce() & part) != 0, 0); }

// Tells whether tensors and calls are tracked between their phases.
inline bool KeepsCalls() noexcept {
  return __builtin_expect((PartsInForce() & (kHandles | kProduct | kSync | kInit)) != 0, 0);
}

}  // namespace portacl::sanitizer
