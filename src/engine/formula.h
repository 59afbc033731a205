// A formula bound to its inputs: the kernel of one instruction set, its parameters, and how each input is
// read.
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

// As many floats as the widest vector of any instruction set has.
inline constexpr size_t kRepeated = 64;

// A formula compiled for one instruction set: out[i] = f(in[0][i * step[0]], ...), i in [0, n); float32
// throughout. A step is 1, or 0 for one value that is repeated over kRepeated floats. `out` may be an input.
using VectorFunction = Isa (*)(const void* parameters, const float* const* in, const size_t* step, float* out,
                               size_t n);

// Trivially copyable, as part of jobs that executors hold.
struct Formula {
  VectorFunction function;
  int input_count;
  LoadFunction load[kMaxInputs];
  bool is_float32[kMaxInputs];
  int8_t argument[kMaxInputs];  // which of the executor's operands each input is
  alignas(16) unsigned char parameters[32];

  template <class Parameters>
  void Set(VectorFunction vector_function, const Parameters& values) {
    static_assert(sizeof(Parameters) <= sizeof parameters && std::is_trivially_copyable_v<Parameters>);
    function = vector_function;
    std::memcpy(parameters, &values, sizeof values);
  }

  bool Reads(int executor_operand) const noexcept {
    for (int k = 0; k < input_count; ++k) {
      if (argument[k] == executor_operand) return true;
    }
    return false;
  }
};

// How one output is written.
struct Result {
  StoreFunction store;
  bool is_float32;
  int8_t argument;  // which of the executor's operands it is
};

}  // namespace portacl::engine
