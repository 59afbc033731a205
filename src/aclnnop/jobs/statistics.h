// Shared code of norms: kernels that several operators use, and the statistics of rows without elements.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aclnnop/jobs/rowwise_job.h"
#include "aclnnop/output_mask.h"

namespace portacl {

struct NormParameters {
  double eps;
};

// Inputs: x, weight, bias. Output: (x - mean) * rstd * weight + bias. Numbers out: mean, rstd. Parameters:
// NormParameters.
extern const engine::RowwiseKernels layer_norm_kernels;

// Inputs: x1, x2, gamma. Outputs: x * rstd * gamma, and x = x1 + x2. Number out: rstd. Parameters:
// NormParameters.
extern const engine::RowwiseKernels add_rms_norm_kernels;

struct NormBackwardParameters {
  bool wants_input;
};

// Inputs: gradient, x, weight. Numbers in: mean, rstd. Output, if requested: the gradient of x. Sums over
// columns: the gradients of weight and bias. Parameters: NormBackwardParameters.
extern const engine::RowwiseKernels layer_norm_backward_kernels;

// Sets the executor's job: sets all elements of `mean` to 0 and of `rstd` to NaN. Either may be null.
void SetStatisticsOfNothing(const OperatorCall& call, int mean, int rstd, Executor& executor) noexcept;

// Sets the executor's job: sets all elements of 1 or more tensors to 0.
void SetZeroJob(const OperatorCall& call, const int* tensors, int count, Executor& executor) noexcept;

// Restricts a check of an optional tensor to calls that give it.
template <int tensor>
bool IsThere(const OperatorCall& call) noexcept {
  return call.IsGiven(tensor);
}
template <int tensor>
constexpr Check IfThere(const Check& check) {
  return If(IsThere<tensor>, check);
}

// Adds a row value: an input, or a constant where the tensor is null.
inline void ValueOr(engine::RowwiseJobMaker& rows, const OperatorCall& call, int tensor, double otherwise) {
  if (call.IsGiven(tensor)) {
    rows.ValueIn(tensor, call.Tensor(tensor));
  } else {
    rows.ConstantValueIn(otherwise);
  }
}
inline void InputOr(engine::RowwiseJobMaker& rows, const OperatorCall& call, int tensor, double otherwise) {
  if (call.IsGiven(tensor)) {
    rows.Input(tensor, call.Tensor(tensor));
  } else {
    rows.ConstantInput(otherwise);
  }
}
inline void ValueOutIfGiven(engine::RowwiseJobMaker& rows, const OperatorCall& call, int tensor) {
  if (call.IsGiven(tensor)) {
    rows.ValueOut(tensor, call.Tensor(tensor));
  } else {
    rows.NoValueOut();
  }
}

}  // namespace portacl
