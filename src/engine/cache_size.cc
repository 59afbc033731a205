// Reads the last-level cache's size (see cache_size.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/cache_size.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/process/cancellation.h"
#include "base/process/fork.h"
#include "base/text.h"

namespace portacl::engine {
namespace {

// Returns the size that the kernel states for one cache of the first CPU, "32768K" or "32M", or 0 if there is
// none.
int64_t KernelCacheBytes(int index) {
  const CancellationDeferred deferred;
  const Text path("/sys/devices/system/cpu/cpu0/cache/index", index, "/size");
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return 0;
  char text[32];
  const ssize_t length = read(file, text, sizeof text);
  close(file);
  if (length <= 0) return 0;
  int64_t size = 0;
  const auto parsed = std::from_chars(text, text + length, size);
  if (parsed.ec != std::errc() || parsed.ptr == text + length) return 0;
  return *parsed.ptr == 'K' ? size << 10 : *parsed.ptr == 'M' ? size << 20 : size;
}

int64_t ReadLastLevelCacheBytes() {
  int64_t largest = 0;
  for (int index = 0; index < 8; ++index) largest = std::max(largest, KernelCacheBytes(index));
  if (largest > 0) return largest;
    // sysconf is only the fallback: on some machines it counts the caches of a whole socket, of which a core
    // reaches only one.
#if defined(_SC_LEVEL3_CACHE_SIZE)
  for (int level : {_SC_LEVEL4_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE, _SC_LEVEL2_CACHE_SIZE}) {
    largest = std::max<int64_t>(largest, sysconf(level));
  }
#endif
  constexpr int64_t kCommon = int64_t{8} << 20;
  return largest > 0 ? largest : kCommon;
}

[[maybe_unused]] const bool before_fork = InitialiseBeforeFork([] { LastLevelCacheBytes(); });

}  // namespace

int64_t LastLevelCacheBytes() noexcept {
  static const int64_t bytes = ReadLastLevelCacheBytes();
  return bytes;
}

}  // namespace portacl::engine
