// The device memory of a checked program: addresses that the host cannot use, and the bytes that the library
// finds behind them.
//
// Programs get addresses in one public range, which is reserved without access. Their bytes lie elsewhere,
// where the library works on them. No public address is reused while unused ones are left, so that freed
// memory stays inaccessible; the pages behind it are reused.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/call_stack.h"
#include "base/sanitizer_hooks.h"

namespace portacl::sanitizer {

// Reserves the addresses. With `guards`, accesses to them are reported. Start calls it once.
void StartDeviceMemory(bool guards) noexcept;

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
// Frees memory of AllocateDevice. The caller knows that the block is alive.
void FreeDevice(const char* api, void* address) noexcept;
// Enclose work that may still use memory which the program has freed: until EndWork the bytes of freed blocks
// are kept. PyTorch without its caching allocator frees memory so, and an NPU may then still read it.
uint64_t BeginWork() noexcept;
void EndWork(uint64_t work) noexcept;
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
