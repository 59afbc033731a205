// Streams: in-order queues of work. Work runs at submission, on the submitting thread.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>

#include "acl/acl_base.h"

namespace portacl {

struct Stream {
  aclrtContext context = nullptr;
  int32_t device = 0;
  bool is_default = false;
  std::mutex order;  // held while work of this stream runs, so that two submitting threads keep FIFO order

  // Runs `work(argument)` in stream order. `work` must not throw.
  void Submit(void (*work)(void*), void* argument) noexcept;
};

// The stream that a handle means: null is the current context's default stream. nullptr when there is none.
Stream* FindStream(aclrtStream handle) noexcept;

// Creates a stream in a context; returns its handle, nullptr when memory is exhausted.
aclrtStream CreateStream(aclrtContext context, int32_t device, bool is_default) noexcept;

// Waits for the work and ends the stream's life; false when the handle is not a live stream.
bool DestroyStream(aclrtStream handle) noexcept;

// As DestroyStream for every stream of a context.
void DestroyStreamsOf(aclrtContext context) noexcept;

}  // namespace portacl
