// Elementwise jobs: a formula over a loop plan. Fill (convert, gather), compute in float32, spill (round,
// scatter): one pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Trivially copyable, so that an executor can hold it.
struct ElementwiseJob {
  LoopPlan plan;  // operands in the formula's order, the output last
  Formula formula;
  Result result;
  int threads;
  bool stream;              // write past the caches: the operands together do not fit them
  bool takes_every_second;  // the kernel's instruction set: see VectorFunction

  // The type in which results leave the kernel.
  ElementType kernel_result() const noexcept {
    return result.type == ElementType::kOther || !formula.takes_halves ? ElementType::kF32 : result.type;
  }
  KernelType kernel_type() const noexcept { return formula.KernelFor(kernel_result()); }

  bool Touches(int executor_operand) const noexcept {
    return formula.Reads(executor_operand) || result.argument == executor_operand;
  }

  int64_t Elements() const noexcept { return plan.count; }

  void Run(void* const* addresses, void* workspace) const noexcept;
  // With the addresses of the plan's operands at its first element.
  void RunAt(char* const* base) const noexcept;
};

}  // namespace portacl::engine
