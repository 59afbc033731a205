// References to the buffers of a job's ops: an operand, the workspace or the job's own memory, and an offset.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <cstring>

#include "engine/job.h"

namespace portacl::engine {

struct BufferRef {
  static constexpr int32_t kWorkspace = -1;
  static constexpr int32_t kMemory = -2;  // the job's own memory

  int32_t operand = 0;
  int64_t offset = 0;  // in bytes

  char* Address(const JobContext& context) const noexcept {
    if (operand == kMemory) return const_cast<char*>(reinterpret_cast<const char*>(context.memory)) + offset;
    char* const base =
        static_cast<char*>(operand == kWorkspace ? context.workspace : context.addresses[operand]);
    return base + offset;
  }
};

// Loads and stores single elements, which need not be aligned.
template <class T>
T Load(const char* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
template <class T>
void Store(char* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

}  // namespace portacl::engine
