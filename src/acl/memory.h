// Registry of the memory that this library handed out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// Whether the address lies in memory from aclrtMallocHost (CANN's pinned host memory).
bool IsPinnedHostMemory(const void* address) noexcept;

}  // namespace portacl
