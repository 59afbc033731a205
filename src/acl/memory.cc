// Device and host memory: both are the process's heap, registered so that a wrong free is refused (decision
// R3).
// SPDX-License-Identifier: Apache-2.0
#include "acl/memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string_view>

#include "acl/acl_rt.h"
#include "acl/device.h"
#include "acl/errors.h"
#include "acl/fork.h"
#include "acl/immortal.h"

namespace portacl {
namespace {

constexpr size_t kAlignment = 64;  // CANN's promise, and a cache line
constexpr size_t kHugePage =
    size_t{2} << 20;  // madvise only from here on: every program asks for huge pages, even for 16 bytes

enum class Kind { kDevice, kHost };

struct Allocation {
  size_t size;
  Kind kind;
};

struct Registry {
  std::mutex mutex;
  std::map<uintptr_t, Allocation> by_address;
};

Registry& TheRegistry() {
  static Immortal<Registry> registry;
  static const bool guarded = GuardAcrossFork(registry->mutex, ForkRank::kMemory);
  (void)guarded;
  return *registry;
}

// CANN rounds up to 32 bytes and adds 32; 0 when that overflows.
size_t PaddedSize(size_t size) {
  size_t padded = 0;
  if (__builtin_add_overflow(size, size_t{31}, &padded)) return 0;
  padded &= ~size_t{31};
  return __builtin_add_overflow(padded, size_t{32}, &padded) ? 0 : padded;
}

void* Allocate(size_t size, Kind kind) noexcept {
  const size_t padded = PaddedSize(size);
  if (padded == 0) return nullptr;
  void* address = nullptr;
  const bool huge = padded >= kHugePage;
  if (posix_memalign(&address, huge ? kHugePage : kAlignment, padded) != 0) return nullptr;
  if (huge) madvise(address, padded & ~(kHugePage - 1), MADV_HUGEPAGE);  // a wish: failing changes nothing
  try {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    registry.by_address.emplace(reinterpret_cast<uintptr_t>(address), Allocation{size, kind});
  } catch (...) {
    free(address);
    return nullptr;
  }
  return address;
}

bool Release(void* address, Kind kind) noexcept {
  Registry& registry = TheRegistry();
  {
    std::lock_guard lock(registry.mutex);
    const auto it = registry.by_address.find(reinterpret_cast<uintptr_t>(address));
    if (it == registry.by_address.end() || it->second.kind != kind) return false;
    registry.by_address.erase(it);
  }
  free(address);
  return true;
}

aclError Malloc(const char* api, const char* parameter, void** address, size_t size, Kind kind) noexcept {
  if (address == nullptr) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
        Text(api, ": parameter ", parameter, " is a null pointer, expected the address of a pointer."));
  }
  if (size == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter size has the value 0, accepted: 1 or more bytes."));
  }
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  void* allocated = Allocate(size, kind);
  if (allocated == nullptr) {
    return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
                Text(api, ": parameter size has the value ", size, ", more than the memory that is free."));
  }
  *address = allocated;
  return ACL_SUCCESS;
}

aclError Free(const char* api, const char* parameter, const char* source, void* address, Kind kind) noexcept {
  if (address == nullptr) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
        Text(api, ": parameter ", parameter, " is a null pointer, expected an address from ", source, "."));
  }
  if (!Release(address, kind)) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text(api, ": parameter ", parameter, " has the value ", static_cast<const void*>(address),
                     ", which is no live address from ", source, "; nothing was freed."));
  }
  return ACL_SUCCESS;
}

// The value of a line such as "MemTotal:  24541372 kB", 0 when there is none.
size_t MeminfoBytes(std::string_view info, std::string_view name) {
  size_t at = info.find(name);
  if (at == std::string_view::npos) return 0;
  at = info.find_first_of("0123456789", at + name.size());
  size_t kibibytes = 0;
  if (at != std::string_view::npos) std::from_chars(info.data() + at, info.data() + info.size(), kibibytes);
  return kibibytes * 1024;
}

}  // namespace

MemoryKind KindOfMemory(const void* address) noexcept {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto key = reinterpret_cast<uintptr_t>(address);
  auto it = registry.by_address.upper_bound(key);
  if (it == registry.by_address.begin()) return MemoryKind::kUnknown;
  --it;
  if (key - it->first >= it->second.size) return MemoryKind::kUnknown;
  return it->second.kind == Kind::kHost ? MemoryKind::kPinnedHost : MemoryKind::kDevice;
}

}  // namespace portacl

using namespace portacl;

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  return Malloc("aclrtMalloc", "devPtr", devPtr, size, Kind::kDevice);
}

aclError aclrtFree(void* devPtr) { return Free("aclrtFree", "devPtr", "aclrtMalloc", devPtr, Kind::kDevice); }

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  return Malloc("aclrtMallocHost", "hostPtr", hostPtr, size, Kind::kHost);
}

aclError aclrtFreeHost(void* hostPtr) {
  return Free("aclrtFreeHost", "hostPtr", "aclrtMallocHost", hostPtr, Kind::kHost);
}

aclError aclrtMemcpy(void* dst, size_t destMax, const void* src, size_t count, aclrtMemcpyKind kind) {
  if (count == 0) return ACL_SUCCESS;
  if (dst == nullptr || src == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtMemcpy: parameter ", dst == nullptr ? "dst" : "src",
                     " is a null pointer, expected a valid address."));
  }
  if (kind < ACL_MEMCPY_HOST_TO_HOST || kind > ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
        Text("aclrtMemcpy: parameter kind has the value ", static_cast<int>(kind), ", accepted: 0 to 5."));
  }
  if (count > destMax) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text("aclrtMemcpy: parameter count has the value ", count,
                     ", accepted: at most destMax, which is ", destMax, "."));
  }
  std::memmove(dst, src, count);
  return ACL_SUCCESS;
}

aclError aclrtMemset(void* devPtr, size_t maxCount, int32_t value, size_t count) {
  if (count == 0) return ACL_SUCCESS;
  if (devPtr == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtMemset: parameter devPtr is a null pointer, expected a valid address."));
  }
  if (count > maxCount) {
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text("aclrtMemset: parameter count has the value ", count,
                     ", accepted: at most maxCount, which is ", maxCount, "."));
  }
  std::memset(devPtr, value, count);
  return ACL_SUCCESS;
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtGetMemInfo: parameter ", free == nullptr ? "free" : "total",
                     " is a null pointer, expected the address of a size_t."));
  }
  if (CurrentContext() == nullptr) return FailNoDevice("aclrtGetMemInfo");
  *free = 0;
  *total = 0;
  // Ordinary memory answers for DDR and HBM alike; pools that do not exist here (P2P, 1G pages) have nothing.
  switch (attr) {
    case ACL_DDR_MEM:
    case ACL_HBM_MEM:
    case ACL_DDR_MEM_HUGE:
    case ACL_DDR_MEM_NORMAL:
    case ACL_HBM_MEM_HUGE:
    case ACL_HBM_MEM_NORMAL:
    case ACL_MEM_NORMAL:
    case ACL_MEM_HUGE:
      break;
    default:
      return ACL_SUCCESS;
  }
  char info[2048];  // the two lines are among the first
  const int file = open("/proc/meminfo", O_RDONLY | O_CLOEXEC);
  const ssize_t length = file < 0 ? -1 : read(file, info, sizeof info);
  if (file >= 0) close(file);
  if (length > 0) {
    *total = MeminfoBytes({info, static_cast<size_t>(length)}, "MemTotal:");
    *free = MeminfoBytes({info, static_cast<size_t>(length)}, "MemAvailable:");
  }
  return ACL_SUCCESS;
}
