// The properties of an address that the library knows: its kind of memory, its device, its allocation.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace portacl {

enum class MemoryKind {
  kDevice,          // from aclrtMalloc and its variants
  kManaged,         // from aclrtMemAllocManaged
  kMapped,          // physical memory that aclrtMapMem mapped
  kPinnedHost,      // from aclrtMallocHost and its variants
  kRegisteredHost,  // the program's own, which aclrtHostRegister pinned
  kUnknown          // the program's own
};

struct MemoryInfo {
  MemoryKind kind = MemoryKind::kUnknown;
  int32_t device = 0;       // that owns device memory
  bool huge_pages = false;  // the kernel was asked for them
};

// The memory of an entry in the registry. `size` is what the program requested; 0 if no entry covers the address.
struct MemoryRange {
  uintptr_t begin = 0;
  size_t size = 0;
  MemoryInfo info;
  uint64_t serial = 0;  // identifies the entry and is never used again
};

}  // namespace portacl
