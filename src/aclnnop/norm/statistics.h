// What norms share: kernels that several operators run, and statistics of rows without elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/norm/rows.h"
#include "aclnnop/output_mask.h"

namespace portacl {

struct NormParameters {
  double eps;
};

// Inputs x, weight, bias; output (x - mean) * rstd * weight + bias; numbers out: mean, rstd. Parameters: NormParameters.
extern const engine::RowKernels layer_norm_kernels;

// Inputs x1, x2, gamma; outputs x * rstd * gamma and x = x1 + x2; number out: rstd. Parameters: NormParameters.
extern const engine::RowKernels add_rms_norm_kernels;

struct NormBackwardParameters {
  bool wants_input;
};

// Inputs gradient, x, weight; numbers in: mean, rstd; output, where it is wanted, the gradient of x; sums over columns: those of weight
// and of bias. Parameters: NormBackwardParameters.
extern const engine::RowKernels layer_norm_backward_kernels;

// Sets the executor's job: all elements of `mean` become 0, all of `rstd` NaN. Either may be null.
void SetStatisticsOfNothing(const OperatorCall& call, int mean, int rstd, Executor& executor) noexcept;

inline constexpr int kMostZeroed = 4;
// Sets the executor's job: all elements of these tensors, 1 to kMostZeroed, become 0.
void SetZeroJob(const OperatorCall& call, const int* tensors, int count, Executor& executor) noexcept;

// The check of one tensor that may be null, for calls alone that give it.
template <int tensor>
bool IsThere(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}
template <int tensor>
constexpr Check IfThere(const Check& check) {
  return If(IsThere<tensor>, check);
}

// A value of a row, an input, or a constant where the tensor is null.
inline void ValueOr(engine::RowJobMaker& rows, const OperatorCall& call, int tensor, double otherwise) {
  if (call.IsGiven(tensor)) {
    rows.ValueIn(tensor, call.Tensor(tensor));
  } else {
    rows.ConstantValueIn(otherwise);
  }
}
inline void InputOr(engine::RowJobMaker& rows, const OperatorCall& call, int tensor, double otherwise) {
  if (call.IsGiven(tensor)) {
    rows.Input(tensor, call.Tensor(tensor));
  } else {
    rows.ConstantInput(otherwise);
  }
}
inline void ValueOutIfGiven(engine::RowJobMaker& rows, const OperatorCall& call, int tensor) {
  if (call.IsGiven(tensor)) {
    rows.ValueOut(tensor, call.Tensor(tensor));
  } else {
    rows.NoValueOut();
  }
}

}  // namespace portacl
