// Operator new and delete, and aligned_alloc, of a test program: see allocation_hook.h.
// SPDX-License-Identifier: Apache-2.0
#include "process/allocation_hook.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

std::atomic<long> made{0};
std::atomic<long> live{0};
std::atomic<long> before_failure{0};  // allocations that succeed before one fails; negative: past it
std::atomic<bool> armed{false};
std::atomic<bool> only_one{false};
std::atomic<bool> failed{false};

// Whether the next allocation is to fail.
bool Fails() noexcept {
  if (!armed.load()) return false;
  const long left = before_failure.fetch_sub(1);
  if (left > 0 || (left < 0 && only_one.load())) return false;
  failed = true;
  return true;
}

void* Allocate(size_t size, size_t alignment) noexcept {
  if (Fails()) return nullptr;
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = std::malloc(size == 0 ? 1 : size);
  } else if (posix_memalign(&memory, alignment, size) != 0) {
    memory = nullptr;
  }
  if (memory != nullptr) {
    ++made;
    ++live;
  }
  return memory;
}

void* AllocateOrThrow(size_t size, size_t alignment) {
  if (void* const memory = Allocate(size, alignment)) return memory;
  throw std::bad_alloc();
}

void Free(void* memory) noexcept {
  if (memory != nullptr) --live;
  std::free(memory);
}

constexpr size_t kUsual = alignof(std::max_align_t);

}  // namespace

void* operator new(size_t size) { return AllocateOrThrow(size, kUsual); }
void* operator new[](size_t size) { return AllocateOrThrow(size, kUsual); }
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, kUsual); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, kUsual); }
void* operator new(size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment) {
  return AllocateOrThrow(size, static_cast<size_t>(alignment));
}
void* operator new(size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}
void* operator new[](size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(alignment));
}
void operator delete(void* memory) noexcept { Free(memory); }
void operator delete[](void* memory) noexcept { Free(memory); }
void operator delete(void* memory, size_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t) noexcept { Free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { Free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { Free(memory); }
void operator delete(void* memory, size_t, std::align_val_t) noexcept { Free(memory); }
void operator delete[](void* memory, size_t, std::align_val_t) noexcept { Free(memory); }

extern "C" void* aligned_alloc(size_t alignment, size_t size) noexcept {
  void* memory = nullptr;
  if (Fails() || posix_memalign(&memory, alignment, size) != 0) return nullptr;
  ++made;
  return memory;
}

namespace portacl::testing {

long AllocationsMade() { return made; }
long AllocationsLive() { return live; }

void FailAllocation(long nth, Failing failing) {
  before_failure = nth - 1;
  only_one = failing == Failing::kOnlyOne;
  failed = false;
  armed = true;
}

bool StopFailingAllocations() {
  armed = false;
  return failed;
}

}  // namespace portacl::testing
