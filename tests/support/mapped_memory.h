// Host memory that devices may use, as after aclrtHostRegister. For operands that tests read in place.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace portacl::testing {

// Register the memory in a checked program, and unregister it.
void MemoryIsMapped(const void* address, size_t bytes);
void MappedMemoryGoes(const void* address);

template <class T>
struct MappedAllocator {
  using value_type = T;
  MappedAllocator() = default;
  template <class U>
  MappedAllocator(const MappedAllocator<U>&) {}  // NOLINT(*-explicit-*): as of every allocator
  T* allocate(size_t n) {
    T* const memory = std::allocator<T>().allocate(n);
    MemoryIsMapped(memory, n * sizeof(T));
    return memory;
  }
  void deallocate(T* memory, size_t n) {
    MappedMemoryGoes(memory);
    std::allocator<T>().deallocate(memory, n);
  }
  bool operator==(const MappedAllocator&) const { return true; }
};

template <class T>
using MappedVector = std::vector<T, MappedAllocator<T>>;

}  // namespace portacl::testing
