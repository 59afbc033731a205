// Signs of floats as bits, eight to a byte, and the numbers 1 and -1 of such bits.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Packs signs: bit i of byte b is 1 where number 8 * b + i is at least 0, -0 included. NaN and numbers behind the last
// one give 0. A listed op (OpList::Compute) with dense operands, trivially copyable, like the next one.
struct PackSigns {
  BufferRef from;
  BufferRef to;
  int64_t count = 0;     // of numbers
  bool is_half = false;  // FLOAT16, else FLOAT
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

// Writes 1 for a bit that is 1, else -1: the numbers of byte b begin at 8 * b.
struct UnpackSigns {
  BufferRef from;
  BufferRef to;
  int64_t bytes = 0;
  bool is_half = false;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
