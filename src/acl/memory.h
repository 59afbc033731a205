// Registry of the memory that this library handed out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

enum class MemoryKind {
  kDevice,      // from aclrtMalloc
  kPinnedHost,  // from aclrtMallocHost
  kUnknown      // the program's own
};

// Which memory the address lies in.
MemoryKind KindOfMemory(const void* address) noexcept;

}  // namespace portacl
