// Virtual address ranges and physical memory: reserved, created, mapped, unmapped.
// SPDX-License-Identifier: Apache-2.0
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <iterator>
#include <map>
#include <mutex>

#include "acl/acl_rt.h"
#include "acl/device/device.h"
#include "acl/device/memory_account.h"
#include "acl/memory/memory.h"
#include "acl/settings/host_memory.h"
#include "base/call_stack.h"
#include "base/errors.h"
#include "base/handle_table.h"
#include "base/process/cancellation.h"
#include "base/process/descriptor.h"
#include "base/process/fork.h"
#include "base/process/no_destructor.h"
#include "base/sanitizer_hooks.h"
#include "profile/recorder.h"

namespace portacl {
namespace {

// Sizes and addresses are multiples of it, so that the kernel can use huge pages.
constexpr size_t kGranularity = kHugePage;

// Physical memory without an address: an anonymous file in memory.
struct Physical {
  Descriptor file;
  std::atomic<size_t> size{0};
  std::atomic<int32_t> device{0};
  std::atomic<bool> is_host{false};
};

HandleTable<Physical, 0x50> physical_memory;

struct Reservation {
  size_t size;
  void*
      // Result of mmap, from which the aligned range was cut; nullptr for addresses of a checked program.
      raw;
  size_t raw_size;
};

struct Ranges {
  std::mutex mutex;
  std::map<uintptr_t, Reservation> reserved;
  std::map<uintptr_t, size_t> mapped;

  // Whether [begin, begin + size) overlaps a mapping.
  bool IsMappedLocked(uintptr_t begin, size_t size) const {
    const auto behind = mapped.lower_bound(begin + size);
    if (behind == mapped.begin()) return false;
    const auto last = std::prev(behind);
    return last->first + last->second > begin;
  }
  // Whether the range lies in one reservation.
  bool IsReservedLocked(uintptr_t begin, size_t size) const {
    const auto behind = reserved.upper_bound(begin);
    if (behind == reserved.begin()) return false;
    const auto found = std::prev(behind);
    const uintptr_t offset = begin - found->first;
    return offset <= found->second.size && size <= found->second.size - offset;
  }
};

Ranges& TheRanges() {
  static NoDestructor<Ranges> ranges;
  static const bool guarded = GuardAcrossFork(ranges->mutex, ForkRank::kVirtualMemory);
  (void)guarded;
  return *ranges;
}

aclError FailNoMemory(const char* api, size_t size) noexcept {
  return Fail(ACL_ERROR_RT_MEMORY_ALLOCATION, MessageClass::kRuntimeMemory,
              Text(api, ": ", size, " bytes are more than can be had."));
}

aclError FailNoSize(const char* api) noexcept {
  return FailValue(api, "size", size_t{0}, "1 or more bytes", ACL_ERROR_INVALID_PARAM);
}

aclError CheckSize(const char* api, size_t size) noexcept {
  if (size == 0) return FailNoSize(api);
  if (size % kGranularity == 0) return ACL_SUCCESS;
  return FailValue(api, "size", size, "a multiple of what aclrtMemGetAllocationGranularity says, 2097152");
}

aclError FailAddress(const char* api, const void* address, std::string_view accepted) noexcept {
  return FailValue(api, "virPtr", address, accepted);
}

aclError FailClosed(const char* api, aclrtDrvMemHandle handle) noexcept {
  return Fail(
      ACL_ERROR_RT_INVALID_HANDLE, MessageClass::kRuntimeValue,
      Text(api, ": parameter handle has the value ", static_cast<const void*>(handle),
           ", whose memory is lost: the program closed the descriptor that held it. Accepted: a handle from "
           "aclrtMallocPhysical since then."));
}

Physical* FindPhysical(const char* api, aclrtDrvMemHandle handle, aclError* status) noexcept {
  Physical* found = physical_memory.Find(handle);
  if (found != nullptr) return found;
  *status = handle == nullptr ? FailNullPointer(api, "handle", "a handle from aclrtMallocPhysical")
                              : FailValue(api, "handle", static_cast<const void*>(handle),
                                          "a handle from aclrtMallocPhysical that is not freed",
                                          ACL_ERROR_RT_INVALID_HANDLE);
  return nullptr;
}

aclError CheckProperties(const char* api, const aclrtPhysicalMemProp* prop) noexcept {
  if (prop == nullptr) return FailNullPointer(api, "prop", "the address of an aclrtPhysicalMemProp");
  if (prop->handleType != ACL_MEM_HANDLE_TYPE_NONE) {
    return FailUnsupported(
        api, "physical memory cannot be given to another process, so prop->handleType must be 0");
  }
  if (prop->allocationType != ACL_MEM_ALLOCATION_TYPE_PINNED) {
    return FailValue(api, "prop->allocationType", static_cast<int>(prop->allocationType), "0 (pinned)",
                     ACL_ERROR_INVALID_PARAM);
  }
  if (prop->location.type == ACL_MEM_LOCATION_TYPE_HOST) return ACL_SUCCESS;
  if (prop->location.type == ACL_MEM_LOCATION_TYPE_DEVICE) return CheckDevice(api, prop->location.id);
  return FailValue(api, "prop->location.type", static_cast<int>(prop->location.type),
                   "0 (host) or 1 (device)", ACL_ERROR_INVALID_PARAM);
}

// Maps the file at the address. The host of a checked program can access only host memory.
bool Map(void* address, size_t size, int file, bool is_host) noexcept {
  if (sanitizer::OwnsDevice(address))
    return sanitizer::hooks->MapDevice("aclrtMapMem", address, size, file, is_host);
  if (mmap(address, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0) == MAP_FAILED)
    return false;
  madvise(address, size, MADV_HUGEPAGE);  // only advice
  return true;
}

bool Unmap(void* address, size_t size) noexcept {
  if (sanitizer::OwnsDevice(address)) return sanitizer::hooks->UnmapDevice("aclrtUnmapMem", address, size);
  constexpr int kReserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED;
  return mmap(address, size, PROT_NONE, kReserved, -1, 0) != MAP_FAILED;
}

}  // namespace
}  // namespace portacl

using namespace portacl;

aclError aclrtReserveMemAddress(void** virPtr, size_t size, size_t alignment, void* expectPtr,
                                uint64_t flags) {
  const char* const api = "aclrtReserveMemAddress";
  if (virPtr == nullptr) return FailNullPointer(api, "virPtr", "the address of a pointer");
  if (size == 0) return FailNoSize(api);
  if (alignment != 0) return FailValue(api, "alignment", alignment, "0", ACL_ERROR_INVALID_PARAM);
  if (expectPtr != nullptr) {
    return FailValue(api, "expectPtr", static_cast<const void*>(expectPtr), "a null pointer",
                     ACL_ERROR_INVALID_PARAM);
  }
  if (flags > 1)
    return FailValue(api, "flags", flags, "0 or 1 (the page size, a hint)", ACL_ERROR_INVALID_PARAM);
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  // Since the whole range can be mapped, its size is a multiple. One granule more allows for alignment.
  size_t whole_size = 0;
  size_t raw_size = 0;
  if (__builtin_add_overflow(size, kGranularity - 1, &whole_size)) return FailNoMemory(api, size);
  whole_size &= ~(kGranularity - 1);
  if (__builtin_add_overflow(whole_size, kGranularity, &raw_size)) return FailNoMemory(api, size);
  if (sanitizer::GuardsDevice()) {
    void* const reserved = sanitizer::hooks->ReserveDevice(whole_size, kGranularity);
    if (reserved == nullptr) return FailNoMemory(api, size);
    try {
      Ranges& ranges = TheRanges();
      std::lock_guard lock(ranges.mutex);
      ranges.reserved.emplace(reinterpret_cast<uintptr_t>(reserved), Reservation{whole_size, nullptr, 0});
    } catch (...) {
      sanitizer::hooks->ReleaseDevice(reserved);
      return FailNoMemory(api, size);
    }
    *virPtr = reserved;
    return ACL_SUCCESS;
  }
  void* raw = mmap(nullptr, raw_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED) return FailNoMemory(api, size);
  const uintptr_t begin = (reinterpret_cast<uintptr_t>(raw) + kGranularity - 1) & ~(kGranularity - 1);
  try {
    Ranges& ranges = TheRanges();
    std::lock_guard lock(ranges.mutex);
    ranges.reserved.emplace(begin, Reservation{whole_size, raw, raw_size});
  } catch (...) {
    munmap(raw, raw_size);
    return FailNoMemory(api, size);
  }
  *virPtr = reinterpret_cast<void*>(begin);
  return ACL_SUCCESS;
}

aclError aclrtReleaseMemAddress(void* virPtr) {
  const char* const api = "aclrtReleaseMemAddress";
  if (virPtr == nullptr) return FailNullPointer(api, "virPtr", "an address from aclrtReserveMemAddress");
  Ranges& ranges = TheRanges();
  std::lock_guard lock(ranges.mutex);
  const auto found = ranges.reserved.find(reinterpret_cast<uintptr_t>(virPtr));
  if (found == ranges.reserved.end()) {
    return FailAddress(api, virPtr, "an address from aclrtReserveMemAddress, once");
  }
  if (ranges.IsMappedLocked(found->first, found->second.size)) {
    return FailAddress(api, virPtr, "a range in which nothing is mapped (any more)");
  }
  if (found->second.raw == nullptr) {
    sanitizer::hooks->ReleaseDevice(virPtr);
  } else {
    munmap(found->second.raw, found->second.raw_size);
  }
  ranges.reserved.erase(found);
  return ACL_SUCCESS;
}

aclError aclrtMemGetAllocationGranularity(aclrtPhysicalMemProp* prop, aclrtMemGranularityOptions option,
                                          size_t* granularity) {
  const char* const api = "aclrtMemGetAllocationGranularity";
  if (granularity == nullptr) return FailNullPointer(api, "granularity", "the address of a size_t");
  if (aclError status = CheckProperties(api, prop)) return status;
  if (option != ACL_RT_MEM_ALLOC_GRANULARITY_MINIMUM && option != ACL_RT_MEM_ALLOC_GRANULARITY_RECOMMENDED) {
    return FailValue(api, "option", static_cast<int>(option), "0 (minimum) or 1 (recommended)",
                     ACL_ERROR_INVALID_PARAM);
  }
  *granularity = kGranularity;
  return ACL_SUCCESS;
}

aclError aclrtMallocPhysical(aclrtDrvMemHandle* handle, size_t size, const aclrtPhysicalMemProp* prop,
                             uint64_t flags) {
  const profile::Call profiled("aclrtMallocPhysical");
  const char* const api = "aclrtMallocPhysical";
  if (handle == nullptr) return FailNullPointer(api, "handle", "the address of an aclrtDrvMemHandle");
  if (aclError status = CheckSize(api, size)) return status;
  if (flags != 0) return FailValue(api, "flags", flags, "0", ACL_ERROR_INVALID_PARAM);
  if (aclError status = CheckProperties(api, prop)) return status;
  if (CurrentContext() == nullptr) return FailNoDevice(api);
  const HostMemory host = ReadHostMemory();
  if (host.total > 0 && size > host.available) return FailNoMemory(api, size);
  Physical* created = physical_memory.Acquire();
  if (created == nullptr) return FailNoMemory(api, size);
  const bool is_host = prop->location.type == ACL_MEM_LOCATION_TYPE_HOST;
  const int32_t device =
      prop->location.type == ACL_MEM_LOCATION_TYPE_DEVICE ? static_cast<int32_t>(prop->location.id) : 0;
  if (!is_host && !TakeDeviceMemory(device, size)) {
    physical_memory.Recycle(created);
    return FailNoMemory(api, size);
  }
  const WriteSignals held_back;
  if (!created->file.Custom(memfd_create("portacl", MFD_CLOEXEC)) ||
      ftruncate(created->file.Get(), static_cast<off_t>(size)) != 0) {
    created->file.Forget();
    physical_memory.Recycle(created);
    if (!is_host) ReturnDeviceMemory(device, size);
    return FailNoMemory(api, size);
  }
  created->size = size;
  created->device = device;
  created->is_host = is_host;
  *handle = physical_memory.Publish(created);
  return ACL_SUCCESS;
}

aclError aclrtFreePhysical(aclrtDrvMemHandle handle) {
  const profile::Call profiled("aclrtFreePhysical");
  aclError status = ACL_SUCCESS;
  if (FindPhysical("aclrtFreePhysical", handle, &status) == nullptr) return status;
  if (Physical* taken = physical_memory.Take(handle)) {
    if (!taken->is_host) ReturnDeviceMemory(taken->device, taken->size);
    taken->file.Forget();
    physical_memory.Recycle(taken);
  }
  return ACL_SUCCESS;
}

aclError aclrtMapMem(void* virPtr, size_t size, size_t offset, aclrtDrvMemHandle handle, uint64_t flags) {
  const profile::Call profiled("aclrtMapMem");
  const char* const api = "aclrtMapMem";
  if (virPtr == nullptr) return FailNullPointer(api, "virPtr", "an address in a reserved range");
  if (offset != 0) return FailValue(api, "offset", offset, "0", ACL_ERROR_INVALID_PARAM);
  if (flags != 0) return FailValue(api, "flags", flags, "0", ACL_ERROR_INVALID_PARAM);
  aclError status = ACL_SUCCESS;
  const Physical* found = FindPhysical(api, handle, &status);
  if (found == nullptr) return status;
  if (size != found->size) {
    return FailValue(api, "size", size, Text("the size of the physical memory, ", found->size.load()).view());
  }
  const auto begin = reinterpret_cast<uintptr_t>(virPtr);
  if (begin % kGranularity != 0) return FailAddress(api, virPtr, "a multiple of 2097152");
  const StackTakenAhead here(sanitizer::OwnsDevice(virPtr));
  Ranges& ranges = TheRanges();
  try {
    std::lock_guard lock(ranges.mutex);
    if (!ranges.IsReservedLocked(begin, size)) {
      return FailAddress(api, virPtr,
                         "an address with so much room behind it in a range of aclrtReserveMemAddress");
    }
    if (ranges.IsMappedLocked(begin, size))
      return FailAddress(api, virPtr, "a range in which nothing is mapped");
    const int file = found->file.Get();
    if (file < 0) return FailClosed(api, handle);
    const auto entry = ranges.mapped.emplace(begin, size).first;
    bool no_memory = false;
    if (!EnterMemory(virPtr, size, MemoryKind::kMapped, found->device, &no_memory) ||
        !Map(virPtr, size, file, found->is_host)) {
      RemoveMemory(virPtr, MemoryKind::kMapped);
      ranges.mapped.erase(entry);
      return FailNoMemory(api, size);
    }
    return ACL_SUCCESS;
  } catch (...) {
    return FailNoMemory(api, size);
  }
}

aclError aclrtUnmapMem(void* virPtr) {
  const profile::Call profiled("aclrtUnmapMem");
  const char* const api = "aclrtUnmapMem";
  if (virPtr == nullptr) return FailNullPointer(api, "virPtr", "an address given to aclrtMapMem");
  const StackTakenAhead here(sanitizer::OwnsDevice(virPtr));
  Ranges& ranges = TheRanges();
  std::lock_guard lock(ranges.mutex);
  const auto found = ranges.mapped.find(reinterpret_cast<uintptr_t>(virPtr));
  if (found == ranges.mapped.end())
    return FailAddress(api, virPtr, "an address given to aclrtMapMem, until now");
  if (!Unmap(virPtr, found->second)) {
    return FailNoMemory(api, found->second);
  }
  RemoveMemory(virPtr, MemoryKind::kMapped);
  ranges.mapped.erase(found);
  return ACL_SUCCESS;
}
