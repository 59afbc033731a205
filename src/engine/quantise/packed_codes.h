// Codes of 4 bits that lie in a number each, packed two to a byte.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/buffer_ref.h"

namespace portacl::engine {

// Packs codes: byte i has the code of number 2 * i in its low half, and that of number 2 * i + 1 in its high half. The
// code of an INT32 is its low four bits. The code of a FLOAT is the FLOAT4_E2M1 of equal value, or 0 if there is none. A
// listed op (OpList::Compute) with dense operands, trivially copyable.
struct PackCodes {
  BufferRef from;
  BufferRef to;
  int64_t count = 0;  // of numbers, even
  bool is_float = false;
  int threads = 1;
  void Run(const JobContext& context) const noexcept;
};

}  // namespace portacl::engine
