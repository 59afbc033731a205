// The device memory of a checked program: addresses that the host cannot use, and the bytes that the library
// finds behind them.
//
// Programs get addresses in one public range, which is reserved without access. Their bytes lie elsewhere,
// where the library works on them. No public address is reused while unused ones are left, so that freed
// memory stays inaccessible; the pages behind it are reused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/call_stack.h"
#include "sanitizer/settings.h"

namespace portacl::sanitizer {

// Reserves the addresses. With `guards`, accesses to them are reported. Start calls it once.
void StartDeviceMemory(bool guards) noexcept;

struct DeviceRange {
  uintptr_t begin = 0;
  uintptr_t end = 0;
  // The distances from public addresses to their bytes: of pages that have their own, and of all others.
  const std::atomic<ptrdiff_t>* distance_of_page = nullptr;
  ptrdiff_t distance = 0;
};
inline constexpr size_t kDevicePage = 4096;
extern constinit DeviceRange device_range;

inline bool IsInDeviceRange(const void* address) noexcept {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= device_range.begin && at < device_range.end;
}

// Returns the address at which the library accesses a program's address; addresses outside device memory are
// unchanged. Costs one test if nothing is checked.
template <class T>
inline T* Working(T* address) noexcept {
  if (!IsOn() || !IsInDeviceRange(address)) return address;
  const auto at = reinterpret_cast<uintptr_t>(address);
  const ptrdiff_t own =
      device_range.distance_of_page[(at - device_range.begin) / kDevicePage].load(std::memory_order_relaxed);
  return reinterpret_cast<T*>(at + static_cast<uintptr_t>(own != 0 ? own : device_range.distance));
}

// A block of device memory, also after its end.
struct Block {
  uintptr_t begin = 0;
  size_t size = 0;  // as requested
  const char* maker = "";
  CallStack made;
  bool is_mapped = false;  // its bytes belong to physical memory of aclrtMapMem
  bool is_shared = false;  // the host has access
  bool is_freed = false;
  const char* freer = "";
  CallStack freed;
};

// Allocates fresh memory, filled with a pattern and marked as unwritten. Returns nullptr if there is none.
void* AllocateDevice(const char* api, size_t size) noexcept;
// Frees it; the caller knows that the block is alive.
void FreeDevice(const char* api, void* address) noexcept;
// Enclose work that may still use memory which the program has freed: until EndWork the bytes of freed blocks
// are kept. PyTorch without its caching allocator frees memory so, and an NPU may then still read it.
uint64_t BeginWork() noexcept;
void EndWork(uint64_t work) noexcept;
// Whether device memory is allocated here.
inline bool GuardsDevice() noexcept { return IsOn() && device_range.end != 0; }
// Whether an address lies in this device memory.
inline bool OwnsDevice(const void* address) noexcept { return IsOn() && IsInDeviceRange(address); }

// Copies the description of the block that contains the address, or else of an ended one that contained it.
// Returns false if there is none.
bool FindBlock(const void* address, Block* block) noexcept;

// ---- memory that programs reserve and map themselves ----

// Reserves public addresses without memory. Returns nullptr if there are none.
void* ReserveDevice(size_t size, size_t alignment) noexcept;
void ReleaseDevice(void* address) noexcept;
// Map the bytes of the file `from` at public addresses, or unmap them.
bool MapDevice(const char* api, void* address, size_t size, int from, bool host_may_use) noexcept;
bool UnmapDevice(const char* api, void* address, size_t size) noexcept;

// ---- tracking of written bytes, in units of 16 ----

inline constexpr size_t kUnit = 16;

void MarkWritten(const void* address, size_t size) noexcept;
// Marks everything from the address to the end of its block.
void MarkWrittenToEnd(const void* address) noexcept;
void MarkUnwritten(void* address, size_t size) noexcept;
// Returns the first byte of [address, address + size) in a unit that was never written, or nullptr. Anything
// but device memory counts as written.
const void* FirstUnwritten(const void* address, size_t size) noexcept;

// Fills memory of unknown content with the pattern, and marks it as unwritten.
void FillUnwritten(void* address, size_t size) noexcept;

}  // namespace portacl::sanitizer
