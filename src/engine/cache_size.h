// The size of the caches in which data may stay between two passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Returns the size of the last-level cache in bytes, read from the system once, or a common size if the
// system does not tell it.
int64_t LastLevelCacheBytes() noexcept;

}  // namespace portacl::engine
