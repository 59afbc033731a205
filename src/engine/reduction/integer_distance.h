// Jobs on 64-bit integers: |a - b|, elementwise or summed, exact modulo 2^64, in one pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "acl/acl_base.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Reads n stored integers or bools as int64; a non-zero bool byte counts as 1.
using IntegerLoadFunction = void (*)(const void* source, int64_t* destination, size_t n);
// Casts n values and stores them: integers keep their low bits, floating types get one rounding to nearest
// even, complex ones a zero imaginary part.
using IntegerStoreFunction = void (*)(const int64_t* source, void* destination, size_t n);

// Supports s8, u8, s16, s32, s64, bool; returns nullptr for other dtypes.
IntegerLoadFunction FindIntegerLoad(aclDataType dtype) noexcept;
// Supports every integer of 8 to 64 bits, f32, f16, bf16, f64, c64, c128; returns nullptr for other dtypes.
IntegerStoreFunction FindIntegerStore(aclDataType dtype) noexcept;

// The absolute difference and the sum wrap around in two's complement. A sum modulo 2^64 needs no order, so
// that blocks add to it as they finish. Trivially copyable, so that an executor can hold it.
struct IntegerDistanceJob {
  LoopPlan plan;  // the two inputs, and the output unless it is a sum
  IntegerLoadFunction load[2];
  int8_t argument[2];  // which of the call's operands the inputs are
  IntegerStoreFunction store;
  int8_t output_argument;
  bool summed;
  int64_t sum_offset;  // byte offset of the sum from the output's storage base
  int threads;

  bool Touches(int executor_operand) const noexcept {
    if (executor_operand == output_argument) return true;
    return plan.count > 0 && (executor_operand == argument[0] || executor_operand == argument[1]);
  }

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
