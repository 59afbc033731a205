// Device memory of a call, which is freed when its stream has done the call's work.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "acl/stream/found_stream.h"

namespace portacl {

class FreeingTask;

class StreamMemory {
 public:
  StreamMemory(const char* api, const FoundStream& queue) noexcept : api_(api), queue_(queue) {}
  StreamMemory(const StreamMemory&) = delete;
  StreamMemory& operator=(const StreamMemory&) = delete;
  // Frees what no queued work uses.
  ~StreamMemory();

  // Returns nullptr if there is no device memory; throws std::bad_alloc if there is no other.
  void* Take(size_t bytes);
  // Work that uses the memory is queued: frees it behind that work.
  void FreeInOrder() noexcept;

 private:
  const char* const api_;
  const FoundStream& queue_;
  FreeingTask* task_ = nullptr;  // made with the first block, so that FreeInOrder cannot fail
};

}  // namespace portacl
