// Elementwise loops: a formula over a loop plan. One pass loads (converts, gathers), computes and stores
// (rounds, scatters).
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/formula.h"
#include "plan/loop_plan.h"

namespace portacl::engine {

// Part of jobs, and so trivially copyable.
struct ElementwiseLoop {
  LoopPlan plan;  // operands in the formula's order, the output last
  Formula formula;
  Result result;
  int threads;
  bool stream;              // write past the caches: the operands together do not fit them
  bool takes_every_second;  // the kernel's instruction set: see VectorFunction

  SelectedKernel kernel() const noexcept { return formula.KernelFor(result.type); }

  // Runs the loop. `base` holds the addresses of the plan's operands at its first element.
  void Run(char* const* base) const noexcept;
};

}  // namespace portacl::engine
