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

// Sums of float32 terms that have been written to memory: of sums and rows too short for a formula's own sum kernel, and
// of inputs that lie across the rows. The same bits for every instruction set. For the short ones, kLanes more terms than
// are summed must be readable.
struct TermSums {
  // sums[s] = the sum of terms [s * length, (s + 1) * length), in lanes; length < kLanes.
  void (*short_sums)(const float* terms, size_t length, size_t count, double* sums);
  // sums[g * kLanes + i] += terms[g * stride + r * width + i] for r = 0, 1, ..., rows - 1, i in [0, width), g
  // in [0, groups); width < kLanes, and what lies beyond `width` in sums becomes anything.
  void (*narrow_rows)(const float* terms, size_t stride, size_t groups, size_t rows, size_t width,
                      double* sums);
  // sums[i] += terms[i * pitch + r] for r = 0, 1, ..., rows - 1, i in [0, kLanes).
  void (*across)(const float* terms, size_t pitch, size_t rows, double* sums);
};
TermSums FindTermSums(Isa isa) noexcept;

// Trivially copyable, so that an executor can hold it.
struct ReductionJob {
  ReductionPlan plan;
  Formula formula;
  TermSums terms;
  SumStoreFunction store;
  int8_t output_argument;
  int threads;
  bool from_memory;  // the inputs fit no cache
  double factor;     // what each sum is multiplied by before its rounding: 1, or the c of a mean

  // When there are no terms, nothing is read; the sum is +0 and so is the result, or NaN for an infinite
  // factor.
  bool Touches(int executor_operand) const noexcept {
    return (plan.reduced > 0 && formula.Reads(executor_operand)) || output_argument == executor_operand;
  }

  int64_t Elements() const noexcept { return plan.outputs() * (plan.reduced > 0 ? plan.reduced : 1); }

  void Run(void* const* addresses, void* workspace) const noexcept;
};

}  // namespace portacl::engine
