// Elementwise jobs: a formula over a loop plan. Fill (convert, gather), compute in float32, spill (round,
// scatter): one pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "engine/conversions.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

inline constexpr int kMaxInputs = kMaxLoopOperands - 1;

// A formula compiled for one instruction set: out[i] = f(in[0][i * step[0]], ...), i in [0, n); float32
// throughout. A step is 1, or 0 for one value that is repeated over kRepeated floats.
using VectorFunction = Isa (*)(const void* parameters, const float* const* in, const size_t* step, float* out,
                               size_t n);

// As many floats as the widest vector of any instruction set has.
inline constexpr size_t kRepeated = 64;

// Trivially copyable, so that an executor can hold it.
struct ElementwiseJob {
  LoopPlan plan;                      // operands in the formula's order, the output last
  int8_t argument[kMaxLoopOperands];  // which of the executor's operands each one is
  LoadFunction load[kMaxInputs];
  StoreFunction store;
  bool is_float32[kMaxLoopOperands];
  int threads;
  VectorFunction function;
  alignas(16) unsigned char parameters[32];

  template <class Parameters>
  void SetFormula(VectorFunction vector_function, const Parameters& values) {
    static_assert(sizeof(Parameters) <= sizeof parameters && std::is_trivially_copyable_v<Parameters>);
    function = vector_function;
    std::memcpy(parameters, &values, sizeof values);
  }

  bool Touches(int executor_operand) const noexcept {
    for (int k = 0; k < plan.operand_count; ++k) {
      if (argument[k] == executor_operand) return true;
    }
    return false;
  }

  int64_t Elements() const noexcept { return plan.count; }

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
