// Reads the last-level cache's size (see cache_size.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/cache_size.h"

#include <unistd.h>

#include <algorithm>

namespace portacl::engine {

int64_t LastLevelCacheBytes() noexcept {
  static const int64_t bytes = [] {
    int64_t largest = 0;
#if defined(_SC_LEVEL3_CACHE_SIZE)
    for (int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
      largest = std::max<int64_t>(largest, sysconf(level));
    }
#endif
    constexpr int64_t kCommon = int64_t{8} << 20;
    return largest > 0 ? largest : kCommon;
  }();
  return bytes;
}

}  // namespace portacl::engine
