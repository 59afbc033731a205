// The registry of memory that this library allocated or was told about.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/memory_info.h"

namespace portacl {

// Return the properties of an address, and the registered range that covers it.
MemoryInfo InfoOfMemory(const void* address) noexcept;
MemoryRange RangeOfMemory(const void* address) noexcept;

// Returns one more than the number of entries that have ended. While it stays the same, no registered memory
// has ended.
uint64_t MemoryEnds() noexcept;

inline MemoryKind KindOfMemory(const void* address) noexcept { return InfoOfMemory(address).kind; }

// Registers memory that this library does not free: mapped or registered memory. Returns false if a byte of
// it is known already, or, with *no_memory set, if the entry cannot be allocated. Memory of aclrtMallocHost
// may be registered in addition, each byte once; freeing it ends the registration.
bool EnterMemory(const void* address, size_t size, MemoryKind kind, int32_t device, bool* no_memory) noexcept;

// Removes the entry of this kind that begins at the address; returns false if there is none.
bool RemoveMemory(const void* address, MemoryKind kind) noexcept;

// Device memory that the library takes for work of its own. It counts as the device's, but programs are not
// told to free it. Taking returns nullptr if there is none. Whoever gives it back knows that the work is done.
void* TakeOwnMemory(const char* api, size_t size, int32_t device) noexcept;
void GiveBackOwnMemory(const char* api, void* address) noexcept;

// The bytes allocated by a device's aclrtMalloc and its variants, now and at the maximum so far.
struct MemoryUsage {
  uint64_t current = 0;
  uint64_t peak = 0;
};
MemoryUsage UsageOfDevice(int32_t device) noexcept;

inline constexpr size_t kNormalPage = size_t{4} << 10;
inline constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace portacl
