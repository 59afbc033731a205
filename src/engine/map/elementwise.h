// Elementwise loops: a formula over a loop plan. Load (convert, gather), compute, store (round, scatter): one pass.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Trivially copyable, as part of jobs.
struct ElementwiseLoop {
  LoopPlan plan;  // operands in the formula's order, the output last
  Formula formula;
  Result result;
  int threads;
  bool stream;              // write past the caches: the operands together do not fit them
  bool takes_every_second;  // the kernel's instruction set: see VectorFunction

  ChosenKernel kernel() const noexcept { return formula.KernelFor(result.type); }

  // With the addresses of the plan's operands at its first element.
  void Run(char* const* base) const noexcept;
};

}  // namespace portacl::engine
