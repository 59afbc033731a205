// The product of two vectors of integers, exact modulo 2^n.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "acl/acl_base.h"

namespace portacl::engine {

// INT8, UINT8 or INT32. Lengths are in bytes; steps may be 0 or negative.
struct IntegerDotJob {
  aclDataType dtype;
  int64_t length;
  int64_t offset[3];  // of the first elements of both vectors, and of the result
  int64_t step[2];
  int8_t argument[3];  // operands of the executor

  bool Touches(int operand) const noexcept {
    return operand == argument[0] || operand == argument[1] || operand == argument[2];
  }
  int64_t Elements() const noexcept { return length; }
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
