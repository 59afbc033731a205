// Allocates a thread's memory at the first use (see thread_memory.h).
// SPDX-License-Identifier: Apache-2.0
#include "engine/thread_memory.h"

#include <cstdlib>

#include "base/process/thread_end.h"

namespace portacl::engine {
namespace {

constexpr size_t kAlignment = 64;

struct Memory final : Kept {
  void* bytes[kMemoryUses] = {};

  ~Memory() override {
    for (void* one : bytes) std::free(one);
  }
};

thread_local Kept* thread_memory = nullptr;

}  // namespace

char* ThreadMemory(MemoryUse use) noexcept {
  auto* const memory = KeptIn<Memory>(thread_memory);
  if (memory == nullptr) return nullptr;
  void*& bytes = memory->bytes[static_cast<size_t>(use)];
  if (bytes == nullptr) {
    const int64_t size = use == MemoryUse::kGemm ? kGemmMemoryBytes : kThreadMemoryBytes;
    bytes = std::aligned_alloc(kAlignment, static_cast<size_t>(size));
  }
  return static_cast<char*>(bytes);
}

}  // namespace portacl::engine
