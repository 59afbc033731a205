// Device and host memory: both are the process's heap, registered so that a wrong free is refused.
// SPDX-License-Identifier: Apache-2.0
#include "acl/memory/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <mutex>
#include <utility>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/device/memory_account.h"
#include "acl/queue/stream.h"
#include "acl/settings/configuration.h"
#include "acl/stream/capture.h"
#include "base/errors.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

// CANN promises 64. Programs rely on 128 and more, because an NPU's addresses are always multiples of 512.
constexpr size_t kAlignment = 512;

// Host memory consists of whole pages: clients round its address and its size up, and register the pages.
size_t PageBytes() noexcept {
  static const auto bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}
// Rounds up to whole pages; returns 0 on overflow.
size_t InWholePages(size_t size) noexcept {
  size_t end = 0;
  return __builtin_add_overflow(size, PageBytes() - 1, &end) ? 0 : end & ~(PageBytes() - 1);
}

struct Allocation {
  size_t size;
  MemoryKind kind;
  int32_t device;
  bool huge_pages;
  uint64_t serial;
};

struct Registry {
  std::mutex mutex;
  std::map<uintptr_t, Allocation> by_address;
  std::map<int32_t, MemoryUsage> by_device;
  uint64_t last_serial = 0;
  std::map<uintptr_t, size_t>
      registered_pinned;  // registrations within pinned memory that was allocated here

  // Returns the entry that contains the address, or the next one after it.
  auto AtOrBehindLocked(uintptr_t address) {
    auto it = by_address.upper_bound(address);
    if (it == by_address.begin()) return it;
    const auto before = std::prev(it);
    return address - before->first < before->second.size ? before : it;
  }

  // Registers memory of aclrtMallocHost, which clients do to learn its device address. Returns false if the
  // range lies outside the allocation, or a byte of it is registered already.
  bool RegisterPinnedLocked(const std::pair<const uintptr_t, Allocation>& in, uintptr_t begin, size_t size) {
    if (in.second.kind != MemoryKind::kPinnedHost || begin < in.first) return false;
    const size_t offset = begin - in.first;
    if (size > InWholePages(in.second.size) - offset) return false;
    const auto behind = registered_pinned.lower_bound(begin + size);
    if (behind != registered_pinned.begin()) {
      const auto last = std::prev(behind);
      if (last->first + last->second > begin) return false;
    }
    registered_pinned.emplace(begin, size);
    return true;
  }
};

// Starts at 1, so that it differs from the number of a reader that has not looked yet.
std::atomic<uint64_t> memory_ends{1};

Registry& TheRegistry() {
  static NoDestructor<Registry> registry;
  static const bool guarded = GuardAcrossFork(registry->mutex, ForkRank::kMemory);
  (void)guarded;
  return *registry;
}

// Returns how many bytes to request from the system for `size`: rounded up to 32, plus 32 if CANN adds them;
// 0 on overflow.
size_t PaddedSize(size_t size, bool adds_32) {
  size_t padded = 0;
  if (__builtin_add_overflow(size, size_t{31}, &padded)) return 0;
  padded &= ~size_t{31};
  return __builtin_add_overflow(padded, size_t{adds_32 ? 32u : 0u}, &padded) ? 0 : padded;
}

bool IsOfDevice(MemoryKind kind) { return kind == MemoryKind::kDevice || kind == MemoryKind::kManaged; }

// Allocates fresh memory; *huge tells whether huge pages were requested. Device memory of a checked program
// is not the host's.
void* Take(const char* api, size_t size, bool adds_32, MemoryKind kind, bool* huge) noexcept {
  const bool has_pages = kind == MemoryKind::kPinnedHost;
  const size_t padded = has_pages ? InWholePages(size) : PaddedSize(size, adds_32);
  if (padded == 0) return nullptr;
  // Every program requests huge pages, even for 16 bytes; only blocks that fill one get them.
  *huge = padded >= kHugePage;
  if (kind == MemoryKind::kDevice && sanitizer::GuardsDevice())
    return sanitizer::hooks->AllocateDevice(api, size);
  void* address = nullptr;
  const size_t alignment = *huge ? kHugePage : has_pages ? PageBytes() : kAlignment;
  if (posix_memalign(&address, alignment, padded) != 0) return nullptr;
  // Only advice: failing changes nothing.
  if (*huge) madvise(address, padded & ~(kHugePage - 1), MADV_HUGEPAGE);
  return address;
}

void GiveBack(const char* api, void* address) noexcept {
  if (sanitizer::OwnsDevice(address)) {
    sanitizer::hooks->FreeDevice(api, address);
  } else {
    free(address);
  }
}

void* Allocate(const char* api, size_t size, bool adds_32, MemoryKind kind, int32_t device) noexcept {
  if (IsOfDevice(kind) && !TakeDeviceMemory(device, size)) return nullptr;
  bool huge = false;
  void* const address = Take(api, size, adds_32, kind, &huge);
  if (address == nullptr) {
    if (IsOfDevice(kind)) ReturnDeviceMemory(device, size);
    return nullptr;
  }
  try {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    MemoryUsage* usage = IsOfDevice(kind) ? &registry.by_device[device] : nullptr;
    registry.by_address.emplace(reinterpret_cast<uintptr_t>(address),
                                Allocation{size, kind, device, huge, ++registry.last_serial});
    if (usage != nullptr) {
      usage->current += size;
      usage->peak = std::max(usage->peak, usage->current);
    }
  } catch (...) {
    if (IsOfDevice(kind)) ReturnDeviceMemory(device, size);
    GiveBack(api, address);
    return nullptr;
  }
  return address;
}

// Returns the address of the allocation that contains an address, or 0.
uintptr_t BlockOf(uintptr_t address) noexcept {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto it = registry.AtOrBehindLocked(address);
  return it == registry.by_address.end() || it->first > address ? 0 : it->first;
}

// Returns the size of the allocation that begins there, or 0.
size_t SizeAt(const void* address) noexcept {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto it = registry.by_address.find(reinterpret_cast<uintptr_t>(address));
  return it == registry.by_address.end() ? 0 : it->second.size;
}

// When the library is loaded: the checks of programs, which know nothing of the registry, then ask it.
[[maybe_unused]] const bool is_registered =
    (sanitizer::RegisterMemory({.block_of = &BlockOf, .range_of = &RangeOfMemory}), true);

enum class Source { kDevice, kHost };

bool Release(const char* api, void* address, Source source) noexcept {
  Registry& registry = TheRegistry();
  Allocation found = {};
  {
    std::lock_guard lock(registry.mutex);
    const auto it = registry.by_address.find(reinterpret_cast<uintptr_t>(address));
    if (it == registry.by_address.end()) return false;
    found = it->second;
    if (source == Source::kDevice ? !IsOfDevice(found.kind) : found.kind != MemoryKind::kPinnedHost)
      return false;
    const auto usage = registry.by_device.find(found.device);
    if (IsOfDevice(found.kind) && usage != registry.by_device.end()) usage->second.current -= found.size;
    auto& registered = registry.registered_pinned;
    registered.erase(registered.lower_bound(it->first),
                     registered.lower_bound(it->first + InWholePages(found.size)));
    registry.by_address.erase(it);
    memory_ends.fetch_add(1, std::memory_order_release);
  }
  NoteFreed(api, address, found.size);
  GiveBack(api, address);
  if (IsOfDevice(found.kind)) ReturnDeviceMemory(found.device, found.size);
  return true;
}

aclError Malloc(const char* api, const char* parameter, void** address, size_t size, MemoryKind kind,
                bool adds_32 = true) noexcept {
  if (address == nullptr) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
        Text(api, ": parameter ", parameter, " is a null pointer, expected the address of a pointer."));
  }
  if (size == 0) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclValue,
                Text(api, ": parameter size has the value 0, accepted: 1 or more bytes."));
  }
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice(api);
  void* allocated = Allocate(api, size, adds_32, kind, context->device);
  if (allocated == nullptr) {
    return Fail(
        ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
        IsOfDevice(kind) && CurrentConfiguration().limits_device_memory
            ? Text(api, ": parameter size has the value ", size, ", more than the ",
                   ReadDeviceMemory(context->device).free, " bytes that are free of the ",
                   CurrentConfiguration().device_memory, " of device ", context->device,
                   " (PORTACL_DEVICE_MEMORY).")
            : Text(api, ": parameter size has the value ", size, ", more than the memory that is free."));
  }
  *address = allocated;
  if (sanitizer::IsOn(sanitizer::kHandles)) {
    const bool is_host = kind == MemoryKind::kPinnedHost;
    sanitizer::hooks->HandleMade(is_host ? "a piece of host memory" : "a piece of device memory",
                                 is_host ? "aclrtFreeHost" : "aclrtFree", api, allocated);
  }
  return ACL_SUCCESS;
}

aclError Free(const char* api, const char* parameter, const char* source, void* address,
              Source from) noexcept {
  if (address == nullptr) {
    return Fail(
        ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
        Text(api, ": parameter ", parameter, " is a null pointer, expected an address from ", source, "."));
  }
  if (sanitizer::IsOn(sanitizer::kSync)) {
    if (const size_t size = SizeAt(address)) sanitizer::hooks->HostFrees(api, address, size);
  }
  if (sanitizer::IsOn(sanitizer::kHandles)) sanitizer::hooks->HandleGoes(address);
  if (!Release(api, address, from)) {
    if (sanitizer::IsOn()) sanitizer::hooks->CheckWrongFree(api, source, address);
    return Fail(ACL_ERROR_RT_PARAM_INVALID, MessageClass::kRuntimeValue,
                Text(api, ": parameter ", parameter, " has the value ", static_cast<const void*>(address),
                     ", which is no live address from ", source, "; nothing was freed."));
  }
  return ACL_SUCCESS;
}

// Like Free, but waits for every stream of the current device first. An error in a stream is reported after
// the memory is freed.
aclError FreeAfterWork(const char* api, const char* parameter, const char* source, void* address,
                       Source from) noexcept {
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice(api);
  if (HostFunctionScope::HoldsOneOfDevice(context->device)) return FailWaitsForSelf(api);
  if (aclError status = RefuseWaitForDevice(api, context->device)) return status;
  const aclError of_work = SynchronizeStreamsOfDevice(api, context->device);
  const aclError status = Free(api, parameter, source, address, from);
  return status == ACL_SUCCESS ? of_work : status;
}

// Checks the attributes of an allocation. A module is a name for statistics that are not kept here; a device
// must exist.
aclError CheckConfig(const char* api, const aclrtMallocConfig* cfg) noexcept {
  if (cfg == nullptr || cfg->numAttrs == 0) return ACL_SUCCESS;
  if (cfg->attrs == nullptr) return FailNullPointer(api, "cfg->attrs", "an array of numAttrs attributes");
  for (size_t i = 0; i < cfg->numAttrs; ++i) {
    const aclrtMallocAttribute& attribute = cfg->attrs[i];
    int number = 0;  // clients may pass any number, also outside the enumeration
    std::memcpy(&number, &attribute.attr, sizeof number);
    switch (number) {
      case ACL_RT_MEM_ATTR_RSV:
      case ACL_RT_MEM_ATTR_MODULE_ID:
      case ACL_RT_MEM_ATTR_VA_FLAG:  // one address in host and device, which all memory has here
        break;
      case ACL_RT_MEM_ATTR_DEVICE_ID:
        if (aclError status = CheckDevice(api, attribute.value.deviceId)) return status;
        break;
      default:
        return FailValue(api, "cfg->attrs[i].attr", number, "0 to 3", ACL_ERROR_INVALID_PARAM);
    }
  }
  return ACL_SUCCESS;
}

}  // namespace

MemoryInfo InfoOfMemory(const void* address) noexcept {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto key = reinterpret_cast<uintptr_t>(address);
  const auto it = registry.AtOrBehindLocked(key);
  if (it == registry.by_address.end() || it->first > key) return {};
  return {it->second.kind, it->second.device, it->second.huge_pages};
}

MemoryRange RangeOfMemory(const void* address) noexcept {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto key = reinterpret_cast<uintptr_t>(address);
  const auto it = registry.AtOrBehindLocked(key);
  if (it == registry.by_address.end() || it->first > key) return {};
  const Allocation& found = it->second;
  return {it->first, found.size, {found.kind, found.device, found.huge_pages}, found.serial};
}

bool EnterMemory(const void* address, size_t size, MemoryKind kind, int32_t device,
                 bool* no_memory) noexcept {
  *no_memory = false;
  try {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    const auto key = reinterpret_cast<uintptr_t>(address);
    const auto it = registry.AtOrBehindLocked(key);
    if (it != registry.by_address.end() && (it->first <= key || it->first - key < size)) {
      return kind == MemoryKind::kRegisteredHost && registry.RegisterPinnedLocked(*it, key, size);
    }
    registry.by_address.emplace(
        key, Allocation{size, kind, device, kind == MemoryKind::kMapped, ++registry.last_serial});
    return true;
  } catch (...) {
    *no_memory = true;
    return false;
  }
}

bool RemoveMemory(const void* address, MemoryKind kind) noexcept {
  size_t size = 0;
  {
    Registry& registry = TheRegistry();
    std::lock_guard lock(registry.mutex);
    const auto key = reinterpret_cast<uintptr_t>(address);
    if (kind == MemoryKind::kRegisteredHost && registry.registered_pinned.erase(key) > 0) return true;
    const auto it = registry.by_address.find(key);
    if (it == registry.by_address.end() || it->second.kind != kind) return false;
    size = it->second.size;
    registry.by_address.erase(it);
    memory_ends.fetch_add(1, std::memory_order_release);
  }
  NoteFreed(kind == MemoryKind::kRegisteredHost ? "aclrtHostUnregister" : "aclrtUnmapMem", address, size);
  return true;
}

uint64_t MemoryEnds() noexcept { return memory_ends.load(std::memory_order_acquire); }

MemoryUsage UsageOfDevice(int32_t device) noexcept {
  Registry& registry = TheRegistry();
  std::lock_guard lock(registry.mutex);
  const auto found = registry.by_device.find(device);
  return found == registry.by_device.end() ? MemoryUsage() : found->second;
}

}  // namespace portacl

using namespace portacl;

aclError aclrtMalloc(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  const profile::Call profiled("aclrtMalloc");
  return Malloc("aclrtMalloc", "devPtr", devPtr, size, MemoryKind::kDevice);
}

aclError aclrtMallocAlign32(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  const profile::Call profiled("aclrtMallocAlign32");
  return Malloc("aclrtMallocAlign32", "devPtr", devPtr, size, MemoryKind::kDevice, false);
}

aclError aclrtMallocCached(void** devPtr, size_t size, aclrtMemMallocPolicy) {
  const profile::Call profiled("aclrtMallocCached");
  return Malloc("aclrtMallocCached", "devPtr", devPtr, size, MemoryKind::kDevice);
}

aclError aclrtMallocWithCfg(void** devPtr, size_t size, aclrtMemMallocPolicy, aclrtMallocConfig* cfg) {
  const profile::Call profiled("aclrtMallocWithCfg");
  if (aclError status = CheckConfig("aclrtMallocWithCfg", cfg)) return status;
  return Malloc("aclrtMallocWithCfg", "devPtr", devPtr, size, MemoryKind::kDevice);
}

aclError aclrtMemAllocManaged(void** ptr, uint64_t size, uint32_t flag) {
  const profile::Call profiled("aclrtMemAllocManaged");
  if (flag != ACL_RT_MEM_ATTACH_GLOBAL) {
    return FailValue("aclrtMemAllocManaged", "flag", flag, "1 (ACL_RT_MEM_ATTACH_GLOBAL)");
  }
  return Malloc("aclrtMemAllocManaged", "ptr", ptr, size, MemoryKind::kManaged);
}

aclError aclrtFree(void* devPtr) {
  const profile::Call profiled("aclrtFree");
  return Free("aclrtFree", "devPtr", "aclrtMalloc", devPtr, Source::kDevice);
}

aclError aclrtFreeWithDevSync(void* devPtr) {
  const profile::Call profiled("aclrtFreeWithDevSync");
  return FreeAfterWork("aclrtFreeWithDevSync", "devPtr", "aclrtMalloc", devPtr, Source::kDevice);
}

aclError aclrtMallocHost(void** hostPtr, size_t size) {
  const profile::Call profiled("aclrtMallocHost");
  return Malloc("aclrtMallocHost", "hostPtr", hostPtr, size, MemoryKind::kPinnedHost);
}

aclError aclrtMallocHostWithCfg(void** ptr, uint64_t size, aclrtMallocConfig* cfg) {
  const profile::Call profiled("aclrtMallocHostWithCfg");
  if (aclError status = CheckConfig("aclrtMallocHostWithCfg", cfg)) return status;
  return Malloc("aclrtMallocHostWithCfg", "ptr", ptr, size, MemoryKind::kPinnedHost);
}

aclError aclrtFreeHost(void* hostPtr) {
  const profile::Call profiled("aclrtFreeHost");
  return Free("aclrtFreeHost", "hostPtr", "aclrtMallocHost", hostPtr, Source::kHost);
}

aclError aclrtFreeHostWithDevSync(void* hostPtr) {
  const profile::Call profiled("aclrtFreeHostWithDevSync");
  return FreeAfterWork("aclrtFreeHostWithDevSync", "hostPtr", "aclrtMallocHost", hostPtr, Source::kHost);
}

aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) {
    return Fail(ACL_ERROR_INVALID_PARAM, MessageClass::kAclNullPointer,
                Text("aclrtGetMemInfo: parameter ", free == nullptr ? "free" : "total",
                     " is a null pointer, expected the address of a size_t."));
  }
  const Context* context = CurrentContext();
  if (context == nullptr) return FailNoDevice("aclrtGetMemInfo");
  *free = 0;
  *total = 0;
  // DDR and HBM report the same memory; pools that do not exist here (P2P, 1G pages) report nothing.
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
  const DeviceMemory memory = ReadDeviceMemory(context->device);
  *total = memory.total;
  *free = memory.free;
  return ACL_SUCCESS;
}
