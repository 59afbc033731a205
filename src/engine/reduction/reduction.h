// Sum jobs: the terms of a formula, summed over axes in a fixed order, in one pass over the inputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/map/formula.h"
#include "engine/reduction/sum_store.h"
#include "engine/reduction/term_sums.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {

// Trivially copyable, so that an executor can hold it.
struct ReductionJob {
  ReductionPlan plan;
  Formula formula;
  TermSums terms;
  SumStoreFunction store;
  int8_t output_argument;
  int threads;
  bool from_memory;  // the inputs fit no cache
  double factor;     // multiplies each sum before it is rounded: 1, or 1 / n for a mean

  // Without terms nothing is read. The sum is +0, and so is the result, or NaN for an infinite factor.
  bool Touches(int executor_operand) const noexcept {
    return (plan.reduced > 0 && formula.Reads(executor_operand)) || output_argument == executor_operand;
  }

  int64_t Elements() const noexcept { return plan.outputs() * (plan.reduced > 0 ? plan.reduced : 1); }

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
