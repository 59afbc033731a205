// Tells whether two tensors have the same bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Writes 0 as UINT32 if all bytes are the same, else 1. A listed op (OpList::Compute) with dense operands, trivially
// copyable.
struct CompareBytes {
  BufferRef first;
  BufferRef second;
  BufferRef to;
  int64_t bytes = 0;
  int threads = 1;

  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
