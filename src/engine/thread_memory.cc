// Allocates a thread's memory when it is first asked for (see thread_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_memory.h"

#include <cstdlib>

namespace portacl::engine {
namespace {

constexpr size_t kAlignment = 64;

struct Memory {
  void* bytes[kMemoryUses] = {};

  ~Memory() {
    for (void* one : bytes) std::free(one);
  }
};

thread_local Memory thread_memory;

}  // namespace

char* ThreadMemory(MemoryUse use) noexcept {
  void*& bytes = thread_memory.bytes[static_cast<size_t>(use)];
  if (bytes == nullptr) bytes = std::aligned_alloc(kAlignment, static_cast<size_t>(kThreadMemoryBytes));
  return static_cast<char*>(bytes);
}

}  // namespace portacl::engine
