// The machine's memory, which is the device's.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace portacl {

// The machine's memory in bytes; zeros if the system does not tell.
struct HostMemory {
  size_t total = 0;
  size_t available = 0;
};
HostMemory ReadHostMemory() noexcept;

}  // namespace portacl
