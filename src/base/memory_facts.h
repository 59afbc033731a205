// What the library knows about an address.
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
  int32_t device = 0;       // of memory of a device
  bool huge_pages = false;  // the kernel was asked for them
};

// The memory that an entry covers: where it begins, and how much a program asked for. Size 0: the program's own.
struct MemoryRange {
  uintptr_t begin = 0;
  size_t size = 0;
  MemoryInfo facts;
  uint64_t serial = 0;  // of the entry; no other one has or had it
};

}  // namespace portacl
