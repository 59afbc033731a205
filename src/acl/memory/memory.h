// Registry of the memory that this library handed out or was told about.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"

namespace portacl {

enum class MemoryKind {
  kDevice,          // from aclrtMalloc and its variants
  kManaged,         // from aclrtMemAllocManaged
  kMapped,          // physical memory that aclrtMapMem mapped
  kPinnedHost,      // from aclrtMallocHost and its variants
  kRegisteredHost,  // the program's own, which aclrtHostRegister pinned
  kUnknown          // the program's own
};

// What is known about an address.
struct MemoryFacts {
  MemoryKind kind = MemoryKind::kUnknown;
  int32_t device = 0;       // of memory of a device
  bool huge_pages = false;  // the kernel was asked for them
};
MemoryFacts FactsOfMemory(const void* address) noexcept;

// The memory that an entry covers: where it begins, and how much a program asked for. Size 0: the program's own.
struct MemoryRange {
  uintptr_t begin = 0;
  size_t size = 0;
  MemoryFacts facts;
  uint64_t serial = 0;  // of the entry; no other one has or had it
};
MemoryRange RangeOfMemory(const void* address) noexcept;

// How many entries have ended, and one more: while it stays the same, so does what is known of an address.
uint64_t MemoryEnds() noexcept;

inline MemoryKind KindOfMemory(const void* address) noexcept { return FactsOfMemory(address).kind; }

// Enters memory that this library does not free: mapped or registered. False when a byte of it is known
// already, or (with *no_memory set) when memory for the entry cannot be had. Memory of aclrtMallocHost may be
// registered all the same, each byte once; freeing it ends that.
bool EnterMemory(const void* address, size_t size, MemoryKind kind, int32_t device, bool* no_memory) noexcept;

// Takes out an entry of this kind that begins at the address; false when there is none.
bool RemoveMemory(const void* address, MemoryKind kind) noexcept;

// Bytes that a device's aclrtMalloc and its variants have handed out now, and at most until now.
struct MemoryUsage {
  uint64_t current = 0;
  uint64_t peak = 0;
};
MemoryUsage UsageOfDevice(int32_t device) noexcept;

inline constexpr size_t kNormalPage = size_t{4} << 10;
inline constexpr size_t kHugePage = size_t{2} << 20;

}  // namespace portacl
