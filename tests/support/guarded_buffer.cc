// Guard-page buffers: see guarded_buffer.h.
// SPDX-License-Identifier: Apache-2.0
#include "guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <vector>

#include "acl/acl.h"
#include "acl/device/device.h"
#include "random_numbers.h"
#include "sanitizer/device_memory.h"

namespace portacl::testing {
namespace {

size_t PageBytes() {
  static const size_t bytes = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

// Keeps mappings for reuse: tens of thousands of cases would otherwise spend their time in the kernel.
class Mappings {
 public:
  // Returns the accessible part. One guard page lies on either side.
  std::byte* Take(size_t accessible_bytes) {
    {
      const std::lock_guard lock(mutex_);
      std::vector<std::byte*>& spare = spare_[accessible_bytes];
      if (!spare.empty()) {
        std::byte* accessible = spare.back();
        spare.pop_back();
        return accessible;
      }
    }
    const size_t page = PageBytes();
    void* mapping = mmap(nullptr, accessible_bytes + 2 * page, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping == MAP_FAILED) {
      throw std::bad_alloc();
    }
    std::byte* accessible = static_cast<std::byte*>(mapping) + page;
    if (mprotect(accessible, accessible_bytes, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    return accessible;
  }

  void Return(std::byte* accessible, size_t accessible_bytes) {
    constexpr size_t kKeepBytes = 16 * 4096;
    if (accessible_bytes > kKeepBytes) {
      munmap(accessible - PageBytes(), accessible_bytes + 2 * PageBytes());
      return;
    }
    const std::lock_guard lock(mutex_);
    spare_[accessible_bytes].push_back(accessible);
  }

  static Mappings& Instance() {
    static Mappings* mappings = new Mappings;  // never destroyed: buffers may outlive static destruction
    return *mappings;
  }

 private:
  std::mutex mutex_;
  std::map<size_t, std::vector<std::byte*>> spare_;
};

void FillWithPattern(std::span<std::byte> bytes) {
  static const std::vector<std::byte> pattern = [] {
    std::vector<std::byte> page(PageBytes());
    RandomNumbers random(0x5E471E1);
    for (std::byte& b : page) {
      b = static_cast<std::byte>(random.Bits());
    }
    return page;
  }();
  for (size_t at = 0; at < bytes.size(); at += pattern.size()) {
    std::memcpy(bytes.data() + at, pattern.data(), std::min(pattern.size(), bytes.size() - at));
  }
}

// Returns memory of the device in a checked program that has one, else nullptr.
std::byte* TakeFromDevice(size_t bytes) {
  void* address = nullptr;
  if (!sanitizer::GuardsDevice() || CurrentContext() == nullptr) return nullptr;
  if (aclrtMalloc(&address, bytes, ACL_MEM_MALLOC_NORMAL_ONLY) != ACL_SUCCESS) throw std::bad_alloc();
  return static_cast<std::byte*>(address);
}

}  // namespace

GuardedBuffer::GuardedBuffer(size_t bytes, Guard guard, size_t slack) : bytes_(bytes) {
  const size_t page = PageBytes();
  accessible_bytes_ = std::max<size_t>((bytes + slack + page - 1) / page, 1) * page;
  if (std::byte* const device = TakeFromDevice(accessible_bytes_)) {
    is_on_device_ = true;
    accessible_ = sanitizer::Working(device);
    device_distance_ = device - accessible_;
  } else {
    accessible_ = Mappings::Instance().Take(accessible_bytes_);
  }
  FillWithPattern(Accessible());
  data_ = guard == Guard::kEnd ? accessible_ + accessible_bytes_ - slack - bytes : accessible_ + slack;
}

GuardedBuffer::~GuardedBuffer() {
  if (is_on_device_) {
    aclrtFree(accessible_ + device_distance_);
  } else {
    Mappings::Instance().Return(accessible_, accessible_bytes_);
  }
}

void GuardedBuffer::NoteWritten(const std::byte* from, size_t bytes) const {
  if (is_on_device_) sanitizer::MarkWritten(from + device_distance_, bytes);
}

size_t SlackForMisalignment(size_t bytes, size_t misalignment) {
  // The buffer's end is a multiple of 64, so (slack + bytes) must be 64 - misalignment modulo 64.
  return (128 - misalignment % 64 - bytes % 64) % 64;
}

void* ForbiddenAddress() {
  static void* page = [] {
    void* mapping = mmap(nullptr, PageBytes(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapping == MAP_FAILED) {
      throw std::bad_alloc();
    }
    return mapping;
  }();
  return page;
}

}  // namespace portacl::testing
