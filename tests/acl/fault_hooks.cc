// The replaced functions behind fault_hooks.h.
// SPDX-License-Identifier: Apache-2.0
#include "acl/fault_hooks.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>

#include <cstddef>
#include <cstdlib>
#include <new>

#include "acl/sanitizers.h"

namespace {

std::atomic<long> allocations{0};
std::atomic<long> failing{-1};  // the number of the allocation that fails
std::atomic<long> thread_starts{0};
std::atomic<bool> no_threads{false};

// Counts one allocation; false: it is to fail.
bool MayAllocate() {
  const long number = allocations.fetch_add(1);
  long expected = number;
  if (!failing.compare_exchange_strong(expected, -2)) return true;
  errno = ENOMEM;
  return false;
}

}  // namespace

namespace faults {

long Allocations() { return allocations.load(); }
FailingAllocation::FailingAllocation(long nth) { failing.store(allocations.load() + nth); }
FailingAllocation::~FailingAllocation() { failing.store(-1); }
bool FailingAllocation::Happened() const { return failing.load() == -2; }
long ThreadStarts() { return thread_starts.load(); }
NoThreads::NoThreads() { no_threads.store(true); }
NoThreads::~NoThreads() { no_threads.store(false); }

}  // namespace faults

extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*function)(void*),
                              void* argument) {
  using Function = int (*)(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  static const auto next = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "pthread_create"));
  if (no_threads.load()) return EAGAIN;
  thread_starts.fetch_add(1);
  return next(thread, attributes, function, argument);
}

#if PORTACL_ASAN || PORTACL_TSAN

// The sanitizers own malloc; operator new is replaced over it.
namespace {
void* Allocate(size_t size, size_t alignment) {
  if (!MayAllocate()) return nullptr;
  if (alignment <= alignof(std::max_align_t)) return malloc(size == 0 ? 1 : size);
  void* address = nullptr;
  return posix_memalign(&address, alignment, size) == 0 ? address : nullptr;
}
}  // namespace

#else

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
void __libc_free(void*);

void* malloc(size_t size) { return MayAllocate() ? __libc_malloc(size) : nullptr; }
void* calloc(size_t count, size_t size) { return MayAllocate() ? __libc_calloc(count, size) : nullptr; }
void* realloc(void* old, size_t size) { return MayAllocate() ? __libc_realloc(old, size) : nullptr; }
void* memalign(size_t alignment, size_t size) {
  return MayAllocate() ? __libc_memalign(alignment, size) : nullptr;
}
void* aligned_alloc(size_t alignment, size_t size) {
  return MayAllocate() ? __libc_memalign(alignment, size) : nullptr;
}
int posix_memalign(void** address, size_t alignment, size_t size) {
  void* allocated = MayAllocate() ? __libc_memalign(alignment, size) : nullptr;
  if (allocated == nullptr) return ENOMEM;
  *address = allocated;
  return 0;
}
void free(void* address) { __libc_free(address); }
}

namespace {
void* Allocate(size_t size, size_t alignment) {
  if (!MayAllocate()) return nullptr;
  return alignment <= alignof(std::max_align_t) ? __libc_malloc(size) : __libc_memalign(alignment, size);
}
}  // namespace

#endif

namespace {
void* AllocateOrThrow(size_t size, size_t alignment) {
  void* address = Allocate(size, alignment);
  if (address == nullptr) throw std::bad_alloc();
  return address;
}
constexpr size_t kDefault = alignof(std::max_align_t);
}  // namespace

void* operator new(size_t size) { return AllocateOrThrow(size, kDefault); }
void* operator new[](size_t size) { return AllocateOrThrow(size, kDefault); }
void* operator new(size_t size, std::align_val_t a) { return AllocateOrThrow(size, static_cast<size_t>(a)); }
void* operator new[](size_t size, std::align_val_t a) {
  return AllocateOrThrow(size, static_cast<size_t>(a));
}
void* operator new(size_t size, const std::nothrow_t&) noexcept { return Allocate(size, kDefault); }
void* operator new[](size_t size, const std::nothrow_t&) noexcept { return Allocate(size, kDefault); }
void* operator new(size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(a));
}
void* operator new[](size_t size, std::align_val_t a, const std::nothrow_t&) noexcept {
  return Allocate(size, static_cast<size_t>(a));
}
void operator delete(void* address) noexcept { free(address); }
void operator delete[](void* address) noexcept { free(address); }
void operator delete(void* address, size_t) noexcept { free(address); }
void operator delete[](void* address, size_t) noexcept { free(address); }
void operator delete(void* address, std::align_val_t) noexcept { free(address); }
void operator delete[](void* address, std::align_val_t) noexcept { free(address); }
void operator delete(void* address, size_t, std::align_val_t) noexcept { free(address); }
void operator delete[](void* address, size_t, std::align_val_t) noexcept { free(address); }
