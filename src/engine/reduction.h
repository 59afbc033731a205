// Reduction jobs: the terms of a formula, summed over axes in a fixed order, in one pass over the inputs.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/formula.h"
#include "plan/reduction_plan.h"

namespace portacl::engine {

// Rounds n float64 sums once, to nearest even, and stores them densely.
using SumStoreFunction = void (*)(const double* source, void* destination, size_t n);

// f32, f16, bf16; f64, c64 and c128 get what f32 would, widened, as elementwise results do. nullptr for any
// other dtype.
SumStoreFunction FindSumStore(aclDataType dtype) noexcept;

// The two ways of adding float32 terms into float64 sums; the same bits for every instruction set.
struct SumFunctions {
  // sums[i mod 16] += terms[i], i in [0, n). The terms start at lane 0.
  void (*add_to_lanes)(double* sums, const float* terms, size_t n);
  // sums[i] += terms[i], i in [0, n)
  void (*add_to_row)(double* sums, const float* terms, size_t n);
};
SumFunctions FindSumFunctions(Isa isa) noexcept;

// Trivially copyable, so that an executor can hold it.
struct ReductionJob {
  ReductionPlan plan;
  Formula formula;
  SumFunctions add;
  SumStoreFunction store;
  int8_t output_argument;
  int threads;
  double factor;  // what each sum is multiplied by before its rounding: 1, or the c of a mean

  // When there are no terms, nothing is read; the sum is +0 and so is the result, or NaN for an infinite
  // factor.
  bool Touches(int executor_operand) const noexcept {
    return (plan.reduced > 0 && formula.Reads(executor_operand)) || output_argument == executor_operand;
  }

  int64_t Elements() const noexcept { return plan.outputs() * (plan.reduced > 0 ? plan.reduced : 1); }

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
