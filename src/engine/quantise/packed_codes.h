// Codes of 4 bits that lie in a number each, packed two to a byte.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Byte i has the codes of numbers 2 * i, in its low half, and 2 * i + 1: of INT32 the low four bits; of FLOAT the code
// of FLOAT4_E2M1 whose number that is, 0 if there is none. A trivially copyable step of a job (OpList::Compute) of
// dense operands.
struct PackCodes {
  BufferRef from;
  BufferRef to;
  int64_t count = 0;  // of numbers, even
  bool is_float = false;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
