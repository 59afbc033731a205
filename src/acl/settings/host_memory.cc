// Reads the machine's memory from the system (see host_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include "acl/settings/host_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <string_view>

#include "base/process/cancellation.h"

namespace portacl {
namespace {

// Returns the value of a line such as "MemTotal:  24541372 kB", or 0 if there is none.
size_t MeminfoBytes(std::string_view info, std::string_view name) {
  size_t at = info.find(name);
  if (at == std::string_view::npos) return 0;
  at = info.find_first_of("0123456789", at + name.size());
  size_t kibibytes = 0;
  if (at != std::string_view::npos) std::from_chars(info.data() + at, info.data() + info.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace

HostMemory ReadHostMemory() noexcept {
  const CancellationDeferred deferred;
  char info[2048];  // the two lines are among the first
  const int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? -1 : read(file, info, sizeof info);
  if (file >= 0) close(file);
  if (length <= 0) return {};
  const std::string_view text(info, static_cast<size_t>(length));
  return {MeminfoBytes(text, "MemTotal:"), MeminfoBytes(text, "MemAvailable:")};
}

}  // namespace portacl
