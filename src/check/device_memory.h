// The device memory of a checked program: addresses that the host cannot use, and where the library finds the bytes.
//
// One range of addresses, the public one, is reserved without access; programs get addresses there. Their bytes lie elsewhere, and
// the library's own work is done there. No public address is given out again while there are others, so that what is freed
// stays without access; the pages behind it are used again.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "check/call_stack.h"
#include "check/settings.h"

namespace portacl::sanitizer {

// Reserves the addresses and, with `guards`, has accesses to them reported. Called once, by Start.
void StartDeviceMemory(bool guards) noexcept;

struct DeviceRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  // Of the bytes behind a public address: where a page has one of its own, and of all others.
  const std::atomic<ptrdiff_t>* distance_of_page = nullptr;
  ptrdiff_t distance = 0;
};
inline constexpr size_t kDevicePage = 4096;
extern constinit DeviceRange device_range;

inline bool IsInDeviceRange(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= device_range.begin && at < device_range.end;
}

// Where the library reads and writes what a program's address names; any other address as it is. Costs one test where nothing
// is checked.
template <class T>
inline T* Working(T* address) noexcept {
  if (!IsOn() || !IsInDeviceRange(address)) return address;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const ptrdiff_t own =
      device_range.distance_of_page[(at - device_range.begin) / kDevicePage].load(std::memory_order_relaxed);
  return reinterpret_cast<T*>(at + static_cast<uintptr_t>(own != 0 ? own : device_range.distance));
}

// A piece of device memory, also after its end.
struct Block {
  uintptr_t begin = 0;
  size_t size = 0;  // as the program asked for it
  const char* maker = "";
  CallStack made;
  bool is_mapped = false;  // its bytes are another's: aclrtMapMem
  bool is_shared = false;  // the host has access
  bool is_freed = false;
  const char* freer = "";
  CallStack freed;
};

// Fresh memory, filled with a pattern, none of it written yet; nullptr when there is none.
void* AllocateDevice(const char* api, size_t size) noexcept;
// Ends it; the caller knows that the block lives.
void FreeDevice(const char* api, void* address) noexcept;
// Work that may still use memory which the program has freed: between the two, the bytes of what is freed stay what they were.
// PyTorch without its caching allocator frees so, and an NPU may then still read them.
uint64_t BeginWork() noexcept;
void EndWork(uint64_t work) noexcept;
// Whether device memory comes from here.
inline bool GuardsDevice() noexcept { return IsOn() && device_range.end != 0; }
// Whether this is an address of it.
inline bool OwnsDevice(const void* address) noexcept { return IsOn() && IsInDeviceRange(address); }

// Copies what is known of the block that holds the address, or, with none, of one that held it; false when there is none.
bool FindBlock(const void* address, Block* block) noexcept;

// ---- memory that programs reserve and map by themselves ----

// Public addresses without memory; nullptr when there are none.
void* ReserveDevice(size_t size, size_t alignment) noexcept;
void ReleaseDevice(void* address) noexcept;
// Puts the bytes of the file `from` behind public addresses, or takes them away.
bool MapDevice(const char* api, void* address, size_t size, int from, bool host_may_use) noexcept;
bool UnmapDevice(const char* api, void* address, size_t size) noexcept;

// ---- which bytes were written, in units of 16 ----

inline constexpr size_t kUnit = 16;

void MarkWritten(const void* address, size_t size) noexcept;
// From the address to the end of its block.
void MarkWrittenToEnd(const void* address) noexcept;
void MarkUnwritten(void* address, size_t size) noexcept;
// The first byte of [address, address + size) in a unit in which nothing was written; nullptr when there is none. What is not
// device memory counts as written.
const void* FirstUnwritten(const void* address, size_t size) noexcept;

// Fills memory of which nothing is known with the pattern, and marks it so. Signalling NaNs as FLOAT, FLOAT16, BF16 and DOUBLE.
void FillUnwritten(void* address, size_t size) noexcept;

}  // namespace portacl::sanitizer
