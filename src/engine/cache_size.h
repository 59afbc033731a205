// The size of the caches that data may stay in between two passes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace portacl::engine {

// Bytes of the last-level cache, read from the system once; a common size where the system does not tell.
int64_t LastLevelCacheBytes() noexcept;

}  // namespace portacl::engine
