// All-reductions: whether a formula that writes BOOL is true for every element, in one pass that ends soon
// after the first false one. Its opposite tells whether any element is false.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "engine/map/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Trivially copyable, so that an executor can hold it.
struct AllElementsJob {
  LoopPlan plan;  // only inputs, in the formula's order; not empty
  Formula formula;
  int8_t output_argument;
  int64_t output_offset;  // byte offset of the BOOL result from the output's storage base
  bool is_opposite;       // writes 0 where every element is true, else 1
  int threads;

  bool Touches(int executor_operand) const noexcept {
    return formula.Reads(executor_operand) || output_argument == executor_operand;
  }

  int64_t Elements() const noexcept { return plan.count; }

  // Writes 1 or 0. The inputs may share memory with the output, which is written last.
  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
